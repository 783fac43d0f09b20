"""Transfer functions of Python's builtins and standard library, on symbolic values."""
