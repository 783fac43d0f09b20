"""inplace-lint finds in-place operations that break or silently corrupt training."""

__version__ = "0.1.0"
