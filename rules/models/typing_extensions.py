"""What Python's own `typing` has as well."""


def cast(typ, val):
    return val
