"""IPL304: what a program keeps for later is not a copy, and a write changes it."""

from __future__ import annotations

from typing import NamedTuple

from inplace_lint.core.event import Event, Snapshot
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, Repair, flag_cure, flag_label, named, ran
from inplace_lint.rules.rule import Harm, Rule, Variant


class _Kept(NamedTuple):
    """What is said of a way to keep a tensor; `{what}` is what is written."""

    message: str
    cure: str


_SAYS = {
    "container": _Kept(
        "{what} is overwritten after it was put into a container, and read from there as if it were not",
        "put a `clone()` into the container, or do not write in place",
    ),
    "detached": _Kept(
        "{what} is overwritten, and with it the detached tensor that was put away: it is no copy",
        "put `detach().clone()` away",
    ),
    "average": _Kept("{what} is averaged with itself: what was put away is no copy", "put `detach().clone()` away"),
    "state": _Kept(
        "{what} changes the parameters, and with them the state that was put away: `state_dict` is no copy",
        "put a copy away: `copy.deepcopy(model.state_dict())`",
    ),
    "again": _Kept(
        "{what} is overwritten between two moments at which it was put away: both times it is the same memory",
        "put a copy away: `clone()`",
    ),
    "item": _Kept(
        "{what} is part of what the object holds: it is changed again each time the item is asked for",
        "work on a copy: `clone()`",
    ),
    "repeated": _Kept(
        "{what} is overwritten, but all items of the list are this one tensor",
        "make the list with a comprehension: `[... for _ in range(n)]`",
    ),
    "default": _Kept(
        "{what} is the default of a parameter: it is made once, and the write stays for all later calls",
        "use `None` as the default and make the tensor in the function",
    ),
}


def _written(event: Snapshot) -> str:
    """Spell what is written, or the call that writes the parameters."""
    write = event.write
    if event.how == "state" and write.symbol:
        return f"`{write.symbol}.{write.op.rpartition('.')[2]}()`"
    return named(write.symbol)


def judge(event: Event) -> Draft | None:
    """Report a kept value that a write changes."""
    if not isinstance(event, Snapshot) or event.how not in _SAYS:
        return None
    write, kept = event.write, _SAYS[event.how]
    marks = list(ran(write))
    if event.kept is not None:
        marks.append(Mark(Role.ALIAS, event.kept, "kept here"))
    if event.read is not None:
        marks.append(Mark(Role.ALIAS, event.read.site.place, "read here"))
    return Draft(
        message=kept.message.format(what=_written(event)),
        write=write,
        label=flag_label(write),
        related=tuple(marks),
        help=flag_cure(write, kept.cure),
        assumptions=event.assumptions,
        repair=Repair.COPY_WHERE_KEPT,
    )


RULE = Rule("IPL304", "snapshot-alias", Harm.SILENT, judge, variants=(Variant.WRITE, Variant.ALIAS))
