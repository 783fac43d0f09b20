"""LibCST to IR: with `fix/` the only importer of libcst."""
