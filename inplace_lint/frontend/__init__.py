"""Source text to IR, and back to positions: with `fix/` the only importer of libcst."""
