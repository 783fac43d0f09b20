"""IPL104: backward runs into the graph of an earlier step, which a write left in a tensor that outlives the step."""

from __future__ import annotations

from inplace_lint.core.event import Carried, Event, Failure, Spelling, Touch
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, Repair, named, ran
from inplace_lint.rules.rule import Harm, Rule, Variant

_BETWEEN = (
    "`detach()` the tensor between two steps; the write itself has to be recorded, since a step trains through it"
)
_REFUSED = "compute with the new values themselves, instead of writing them to the parameter"


def _is_assigned(write: Touch) -> bool:
    """Check whether a parameter is written by `layer.weight += x`, which then assigns it to the attribute."""
    return write.param and write.spelled is Spelling.AUGMENTED and "." in write.symbol


def judge(event: Event) -> Draft | None:
    """Report a write that leaves a history in a buffer or attribute, once a later backward needs it."""
    if not isinstance(event, Carried):
        return None
    write, marks = event.write, list(ran(event.write))
    if _is_assigned(write):
        message = (
            f"{named(write.symbol)} is a parameter, and what this makes of it has a history: it cannot be assigned"
        )
        return Draft(message, write, related=tuple(marks), help=_REFUSED, assumptions=event.assumptions)
    if event.backward is not None:
        marks.append(Mark(Role.BACKWARD, event.backward.place, "in the next step, this backward reaches it"))
    return Draft(
        message=f"{named(write.symbol)} keeps the history of this step, which the backward of this step frees",
        write=write,
        related=tuple(marks),
        help=_BETWEEN if event.trains else "write a `detach()` of the value; or write it under `{no_grad}`",
        says="freed",
        assumptions=event.assumptions,
        repair=None if event.trains else Repair.UNRECORDED,
    )


RULE = Rule(
    "IPL104",
    "kept-history",
    Harm.BACKWARD,
    judge,
    checks=(Failure.FREED,),
    variants=(Variant.DETACHED, Variant.RESTARTED),
)
