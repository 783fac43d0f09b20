"""IPL304: what a program keeps for later is not a copy, and a write changes it."""

from __future__ import annotations

from inplace_lint.core.event import Event, Keeping, Snapshot, Spelling
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import NEW_TENSOR, Draft, Mark, Repair, flag_cure, flag_label, is_step, named, ran
from inplace_lint.rules.rule import Harm, Rule, Variant

_KEPT_IN_A_LOOP = (
    "{what} changes the parameters, and with them what the loop kept of the model: an assignment does not copy"
)
_SAYS = {
    Keeping.CONTAINER: (
        "{what} is overwritten after it was put into a container, and read from there as if it still had its old value"
    ),
    Keeping.RETURNED: "{what} is overwritten after it was put into a container, which is returned with the new value",
    Keeping.DETACHED: "{what} is overwritten, and with it the detached tensor that was stored, which is not a copy",
    Keeping.HOOK: "{what} is overwritten, and with it what a forward hook has stored, which is not a copy",
    Keeping.AVERAGE: "{what} is combined with what was stored of it, which is not a copy: both have the same values",
    Keeping.STATE: "{what} changes the parameters, and with them the state that was stored: `state_dict` does not copy",
    Keeping.MODEL: _KEPT_IN_A_LOOP,
    Keeping.WEIGHTS: _KEPT_IN_A_LOOP,
    Keeping.BESIDE: (
        "what was stored is not a copy: {what} changes it, and it is then read together with the tensor that it shares"
        " memory with"
    ),
    Keeping.AGAIN: ("{what} is overwritten between the two times that it was stored: both entries share one memory"),
    Keeping.TWICE: (
        "{what} is overwritten, although an entry is to hold it as it was before and as it is after the write"
    ),
    Keeping.ITEM: "{what} belongs to the object: it is changed again each time the item is requested",
    Keeping.REPEATED: "{what} is overwritten, but all items of the list or dict are this one tensor",
    Keeping.KEYS: "{what} is overwritten, but another key of the dict leads to the same tensor",
    Keeping.DEFAULT: "{what} is a default argument: it is created once, and the write persists in all later calls",
    Keeping.CACHED: "{what} is in the cache of a function: later calls return it as this write leaves it",
}
_CURES = {
    Keeping.CONTAINER: "put a `clone()` into the container",
    Keeping.RETURNED: "put a `clone()` into the container",
    Keeping.DETACHED: "store `detach().clone()`",
    Keeping.HOOK: "store a `clone()` in the hook",
    Keeping.AVERAGE: "store `detach().clone()`",
    Keeping.STATE: "store a copy: `copy.deepcopy(model.state_dict())`",
    Keeping.MODEL: "keep a copy: `copy.deepcopy(model)`",
    Keeping.WEIGHTS: "store `detach().clone()`",
    Keeping.BESIDE: "store `detach().clone()`",
    Keeping.AGAIN: "store a copy: `clone()`",
    Keeping.TWICE: NEW_TENSOR,  # a copy of what is stored would have the new values in both
    Keeping.ITEM: "work on a copy: `clone()`",
    Keeping.REPEATED: "make the list or dict with a comprehension: `[... for _ in range(n)]`",
    Keeping.KEYS: "put a `clone()` into the dict",
    Keeping.DEFAULT: "use `None` as the default and make the tensor in the function",
    Keeping.CACHED: "work on a copy: `clone()`",
}


def _written(event: Snapshot) -> str:
    """Spell what is written, or the call that writes the parameters."""
    write = event.write
    if write.symbol and (
        event.how in {Keeping.STATE, Keeping.MODEL, Keeping.WEIGHTS}
        or (event.how is Keeping.BESIDE and write.spelled is Spelling.CALL)
    ):
        return f"`{write.symbol}.{write.op.rpartition('.')[2]}()`"
    return "a parameter" if is_step(write) else named(write.symbol)


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
    cure = "store a copy: `copy()`" if event.array else _CURES[event.how]
    return Draft(
        message=_SAYS[event.how].format(what=_written(event)),
        write=write,
        label=flag_label(write),
        related=tuple(marks),
        help=flag_cure(write, cure),
        assumptions=event.assumptions,
        repair=Repair.NEW_TENSOR if event.how is Keeping.TWICE else Repair.COPY_WHERE_KEPT,
    )


RULE = Rule("IPL304", "snapshot-alias", Harm.SILENT, judge, variants=(Variant.WRITE, Variant.ALIAS, Variant.BOUND))
