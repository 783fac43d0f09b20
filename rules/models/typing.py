"""What does nothing at run time."""


def cast(typ, val):
    return val
