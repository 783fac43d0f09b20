"""
A draft: what a rule says of an event, with places in the code where a finding has positions in a file.

Positions are computed for the drafts that are kept only. The functions here spell what sentences are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.event import Site, Touch
from inplace_lint.core.finding import Role, Severity
from inplace_lint.core.span import Place

NEW_TENSOR = "create a new tensor instead of writing in place"
# The cure of a write to a parameter through another tensor on its memory, between forward and backward.
WRITE_PARAMETER = "write the parameter itself, under `with {no_grad}:`, before the forward or after backward"


class Repair(Enum):
    """Which fix is tried; `fix.fixers` has one function for each."""

    NEW_TENSOR = auto()  # compute a new tensor instead of writing
    RESULT = auto()  # the same for a call whose result is used: what it wrote keeps its old value
    NEW_VALUE = auto()  # the same, where the write is refused to a copy as well
    NEW_TENSOR_OR_COPY = auto()  # the same, or let backward keep a copy where others must see the write
    FLAG = auto()  # turn off the flag that makes a call write
    PARAMETER = auto()  # let backward keep a copy of what a layer writes, or name the lines to move
    ORDER = auto()  # name the lines to move
    COPY_AT_SAVE = auto()  # let backward keep a copy
    COPY_WHERE_KEPT = auto()  # keep a copy instead of the tensor itself
    WITHOUT_GRAD = auto()  # write a leaf while no gradients are recorded
    UNRECORDED = auto()  # write while no gradients are recorded, whatever is written
    MODE = auto()  # make the tensor in another mode
    VIEW_ALONE = auto()  # take each view by a call of its own
    COPY_OPERAND = auto()  # write from a copy of the operand
    RETURN_COPY = auto()  # return a copy where a custom function returns its input
    TENSOR_OPERAND = auto()  # pass a tensor in place of a number
    LEAVE_OUT = auto()  # leave out an argument that the call does not take
    REBIND = auto()  # bind the name to the other tensor
    SET_FLAG = auto()  # make a call write in place by its flag
    ASSIGN = auto()  # assign by the method of the parameter


class Mark(Struct, frozen=True):
    """A related place, its role and the sentence about it."""

    role: Role
    place: Place
    message: str


class Draft(Struct, frozen=True):
    """
    What a rule says of an event.

    `help` is the cure in one line; where it is empty, the text of the write decides. `says` is the key of what the
    framework prints. `worst` bounds the severity; if it is None, the harm of the rule does. `repair` is the fix to try.
    `at` is the place of the finding, where it is not that of the write; `gain` is that of the finding.
    """

    message: str
    write: Touch
    label: str = "written here"
    related: tuple[Mark, ...] = ()
    help: str = ""
    says: str = ""
    worst: Severity | None = None
    assumptions: frozenset[str] = frozenset()
    repair: Repair | None = None
    at: Place | None = None
    gain: int = 0

    @property
    def place(self) -> Place:
        """The place of the finding: the flag of a module that writes because of it, otherwise the write itself."""
        if self.at is not None:
            return self.at
        write = self.write
        if write.flag is not None and write.module:
            return write.flag
        return _site(write).place


def _site(write: Touch) -> Site:
    """Return the site of a write; a module that a container ran is written about where the container was called."""
    return write.site.caller if write.built and write.site.caller is not None else write.site


def with_options(draft: Draft, options: Sequence[str]) -> Draft:
    """Return a draft whose message says with which options of the program it is so."""
    spelled = ", ".join(options)
    return replace(draft, message=f"with `{spelled}`, {draft.message}") if options else draft


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
    """Spell a tensor in a message: its name in backticks, or "a tensor"."""
    return f"`{symbol}`" if symbol else "a tensor"


_OF_CONTEXT = frozenset({"saved", "attribute"})  # what a custom function keeps: an argument, a result or anything else


def kept(touch: Touch) -> str:
    """Spell what a save keeps: "`relu` keeps its output for backward"."""
    op = short(touch.op)
    if touch.part.startswith("out"):
        return f"{op} keeps its output for backward"
    if touch.part.startswith("self."):
        return f"{op} keeps its `{touch.part[5:]}` for backward"
    if touch.part in _OF_CONTEXT:
        return f"{op} keeps this tensor for backward"
    what = f"its input {named(touch.symbol)}" if touch.symbol else "its input"
    return f"{op} keeps {what} for backward"


def is_step(write: Touch) -> bool:
    """Check whether a write is the step of an optimizer."""
    return write.op.endswith(".step")


def flag_label(write: Touch) -> str:
    """Return the label of a write: another one under the flag of a module than under the write itself."""
    return "this makes it write in place" if write.flag is not None and write.module else "written here"


def write_label(write: Touch, save: Touch) -> str:
    """Return the label of a write: it may be a later call of the function that saved which runs it."""
    later = write.site.place.slice == save.site.place.slice and write.site.caller != save.site.caller
    return "written here by a later call" if later else "written here"


def flag_cure(write: Touch, otherwise: str = "") -> str:
    """Return the cure of a write: to clear its flag, where it has one."""
    return "set `inplace=False`" if write.flag is not None else otherwise


def ran(write: Touch) -> tuple[Mark, ...]:
    """Return a mark at the call that ran a module, where the finding is at the flag of the module."""
    site = _site(write)
    if write.flag is None or not write.module or write.flag == site.place:
        return ()
    return (Mark(Role.WRITE, site.place, "written here"),)


def made(origin: Site | None, write: Touch) -> tuple[Mark, ...]:
    """Return a mark where the written tensor was made, as far as it is known, and that of the call that ran."""
    if origin is None or not write.producer:
        return ran(write)
    return (Mark(Role.ALIAS, origin.place, f"made here by {short(write.producer)}"), *ran(write))
