"""
Origins: how an unknown value was derived.

    state.symbols.sym((ATTRIBUTE, value.id, "shape"))   # the attribute `shape` of an unknown: the same each time

The key of an unknown value is a tuple of its origin and what it was derived from. A path remembers conditions about
other things under keys of the same form.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from inplace_lint.domain.values import Sym

if TYPE_CHECKING:
    from inplace_lint.domain.values import Value


class Origin:
    """
    A way in which an unknown value is derived.

    `timeless`: the value depends on the parts of its key alone, so that it is the same at every moment. One of any
    other origin belongs to one moment. `by_number`: the key may contain an unknown value by its number.
    """

    __slots__ = ("by_number", "name", "timeless")

    def __init__(self, name: str, *, timeless: bool = False, by_number: bool = False) -> None:
        self.name, self.timeless, self.by_number = name, timeless, by_number

    def __repr__(self) -> str:
        return self.name


ANY = Origin("any", timeless=True)
ARITHMETIC = Origin("arithmetic", timeless=True)
ATTRIBUTE = Origin("attribute", timeless=True, by_number=True)
BINARY = Origin("binary", timeless=True)
COMPARE = Origin("compare", timeless=True)
CONTAINS = Origin("contains", timeless=True)
GLOBAL = Origin("global", timeless=True)
IS_NONE = Origin("is none", timeless=True, by_number=True)
ITEM = Origin("item", timeless=True)
LISTED = Origin("listed parameter", timeless=True)
LOCAL = Origin("local", timeless=True)
DESCRIBES = Origin("describes", timeless=True, by_number=True)  # an attribute that is no part of what a value holds
DTYPE = Origin("dtype", timeless=True)
NOT = Origin("not", timeless=True, by_number=True)
PARAMETER = Origin("parameter", timeless=True)
PICKED = Origin("picked", timeless=True, by_number=True)  # None, for which a condition decided
REQUIRES = Origin("requires grad", timeless=True)
SHAPE = Origin("shape", timeless=True)
STANDARD_LIBRARY = Origin("standard library", timeless=True)
UNARY = Origin("unary", timeless=True)
UNRECORDED = Origin("unrecorded", timeless=True)  # the last part of the key of what is computed under no-grad
UNTRUE = Origin("untrue", timeless=True)
ARGUMENT = Origin("argument")
BUILTIN = Origin("builtin")
CALL = Origin("call")
COPY = Origin("copy")
EXCEPTION = Origin("exception")
FIELD = Origin("field")
FOUND_PACKAGE = Origin("found package")
FORMAT = Origin("format")
IMPORT = Origin("import")
INTRINSIC = Origin("intrinsic")
MEMBER = Origin("member")
METHOD = Origin("method")
NAMED_TUPLE = Origin("named tuple")
POPPED = Origin("popped")
RESULT = Origin("result")
ROW = Origin("row")
SENT = Origin("sent")
SUPER = Origin("super")
TURN = Origin("turn")
UNKNOWN = Origin("unknown")
VALUE = Origin("value")

# Of conditions: whether a value of a library is true, an unknown value is None, a tensor is true.
DOTTED = Origin("dotted")
NONE = Origin("none")
TENSOR = Origin("tensor")


def called(key: object) -> Value | None:
    """Return the unknown function whose call returned an unknown value with a key."""
    match key:
        case (Origin() as origin, Sym() as function, *_) if origin is RESULT:
            return function
        case _:
            return None


def is_part(key: object, whole: Collection[int]) -> bool:
    """Check whether a key is that of an item or attribute of one of some values, by their numbers."""
    match key:
        case (Origin() as origin, Sym(number), *_) if origin in {ITEM, ROW, TURN}:
            return number in whole
        case (Origin() as origin, int(number), *_) if origin is ATTRIBUTE:
            return number in whole
        case _:
            return False


def is_in_argument(keys: Sequence[object], number: int) -> bool:
    """Check whether an unknown value is an item of an argument of the entry point, or what a loop over one yields."""
    depth = 0
    while True:
        match keys[number]:
            case (Origin() as origin, Sym(outer), *_) if origin in {ITEM, ROW, TURN}:
                number, depth = outer, depth + 1
            case (Origin() as origin, *_) if origin is PARAMETER:
                return depth > 0
            case _:
                return False
