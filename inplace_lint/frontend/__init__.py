"""Source text to IR, and from nodes of the IR back to positions. Only `fix/` imports libcst besides this package."""
