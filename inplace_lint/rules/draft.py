"""A finding before its positions are computed: places instead of spans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inplace_lint.core.event import Event, Touch
from inplace_lint.core.finding import Role, Severity
from inplace_lint.core.span import Place


@dataclass(frozen=True, slots=True)
class Mark:
    """A related place, its role and the sentence about it."""

    role: Role
    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rule says of an event; `worst` bounds the severity, `says` names the framework's own words."""

    place: Place
    message: str
    label: str
    related: tuple[Mark, ...]
    write: Touch
    help: str
    says: str = ""
    producer: str = ""
    worst: Severity = Severity.ERROR
    assumptions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    """
    A rule: its code and name, fixed for ever, and what it says of an event, if it speaks of it at all.

    `default` is false for one that applies only if it is selected. `opinion`: it may say what is no fault.
    """

    code: str
    name: str
    judge: Callable[[Event], Draft | None]
    default: bool = True
    opinion: bool = False


def short(op: str) -> str:
    """Spell an op as a message does: its last name, without the underscore of its in-place form or of an operator."""
    name = op.rpartition(".")[2]
    return _OPERATORS.get(name, name.rstrip("_") if not name.startswith("__") else name.strip("_"))


_OPERATORS = {
    "__add__": "+",
    "__radd__": "+",
    "__sub__": "-",
    "__rsub__": "-",
    "__mul__": "*",
    "__rmul__": "*",
    "__truediv__": "/",
    "__rtruediv__": "/",
    "__pow__": "**",
    "__rpow__": "**",
    "__matmul__": "@",
    "__rmatmul__": "@",
    "__getitem__": "indexing",
    "__setitem__": "item assignment",
    "__mod__": "%",
    "__floordiv__": "//",
    "__iadd__": "+=",
    "__isub__": "-=",
    "__imul__": "*=",
    "__itruediv__": "/=",
    "__ipow__": "**=",
}


def named(symbol: str) -> str:
    """Spell a tensor in a message: in backticks, or as what it is."""
    return f"`{symbol}`" if symbol else "a tensor"


def kept(touch: Touch) -> str:
    """Say what a save keeps: "`relu` keeps its output for backward"."""
    op = short(touch.op)
    if touch.part.startswith("out"):
        return f"{op} keeps its output for backward"
    if touch.part.startswith("self."):
        return f"{op} keeps its `{touch.part[5:]}` for backward"
    what = f"its input {named(touch.symbol)}" if touch.symbol else "its input"
    return f"{op} keeps {what} for backward"


def primary(write: Touch) -> Place:
    """Give the place of the finding: the flag of a module that writes because of it, else the write itself."""
    if write.flag is not None and write.module:
        return write.flag
    return write.site.caller.place if write.built and write.site.caller is not None else write.site.place


def ran(write: Touch) -> tuple[Mark, ...]:
    """Give the call that ran a module whose flag is the primary place."""
    site = write.site.caller if write.built and write.site.caller is not None else write.site
    if write.flag is None or not write.module or write.flag == site.place:
        return ()
    return (Mark(Role.WRITE, site.place, "written here"),)
