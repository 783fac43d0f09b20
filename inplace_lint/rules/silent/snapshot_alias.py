"""IPL304: what a program keeps for later is not a copy, and a write changes it."""

from __future__ import annotations

from inplace_lint.core.event import Event, Keeping, Snapshot, Spelling
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, Repair, flag_cure, flag_label, named, ran
from inplace_lint.rules.rule import Harm, Rule, Variant

_SAYS = {
    Keeping.CONTAINER: "{what} is overwritten after it was put into a container, and read from there as if it were not",
    Keeping.DETACHED: "{what} is overwritten, and with it the detached tensor that was put away: it is no copy",
    Keeping.AVERAGE: "{what} is averaged with itself: what was put away is no copy",
    Keeping.STATE: "{what} changes the parameters, and with them the state that was put away: `state_dict` is no copy",
    Keeping.BESIDE: (
        "what was put away is no copy: {what} changes it, and then it is read together with the tensor that it shares"
        " its memory with"
    ),
    Keeping.AGAIN: (
        "{what} is overwritten between two moments at which it was put away: both times it is the same memory"
    ),
    Keeping.ITEM: "{what} is part of what the object holds: it is changed again each time the item is asked for",
    Keeping.REPEATED: "{what} is overwritten, but all items of the list are this one tensor",
    Keeping.DEFAULT: "{what} is the default of a parameter: it is made once, and the write stays for all later calls",
}
_CURES = {
    Keeping.CONTAINER: "put a `clone()` into the container",
    Keeping.DETACHED: "put `detach().clone()` away",
    Keeping.AVERAGE: "put `detach().clone()` away",
    Keeping.STATE: "put a copy away: `copy.deepcopy(model.state_dict())`",
    Keeping.BESIDE: "put `detach().clone()` away",
    Keeping.AGAIN: "put a copy away: `clone()`",
    Keeping.ITEM: "work on a copy: `clone()`",
    Keeping.REPEATED: "make the list with a comprehension: `[... for _ in range(n)]`",
    Keeping.DEFAULT: "use `None` as the default and make the tensor in the function",
}


def _written(event: Snapshot) -> str:
    """Spell what is written, or the call that writes the parameters."""
    write = event.write
    if write.symbol and (
        event.how is Keeping.STATE or (event.how is Keeping.BESIDE and write.spelled is Spelling.CALL)
    ):
        return f"`{write.symbol}.{write.op.rpartition('.')[2]}()`"
    return named(write.symbol)


def judge(event: Event) -> Draft | None:
    """Report a kept value that a write changes."""
    if not isinstance(event, Snapshot) or event.how not in _SAYS:
        return None
    write = event.write
    marks = list(ran(write))
    if event.kept is not None:
        marks.append(Mark(Role.ALIAS, event.kept, "kept here"))
    if event.read is not None:
        marks.append(Mark(Role.ALIAS, event.read.site.place, "read here"))
    cure = "put a copy away: `copy()`" if event.array else _CURES[event.how]
    return Draft(
        message=_SAYS[event.how].format(what=_written(event)),
        write=write,
        label=flag_label(write),
        related=tuple(marks),
        help=flag_cure(write, cure),
        assumptions=event.assumptions,
        repair=Repair.COPY_WHERE_KEPT,
    )


RULE = Rule("IPL304", "snapshot-alias", Harm.SILENT, judge, variants=(Variant.WRITE, Variant.ALIAS))
