"""Python's builtins and standard library on symbolic values."""
