"""inplace-lint finds in-place operations that break or silently corrupt training."""

import importlib
from typing import Any

__version__ = "0.1.0"
_FOR_TESTS = ("assert_arguments_unchanged", "assert_no_inplace_bugs", "watch")


def __getattr__(name: str) -> Any:  # noqa: ANN401 - each has a type of its own
    """Give what tests of users need, imported when it is first asked for."""
    if name in _FOR_TESTS:
        return getattr(importlib.import_module("inplace_lint.live.watch"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
