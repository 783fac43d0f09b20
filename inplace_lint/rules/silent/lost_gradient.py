"""IPL305: a value is changed while nothing is recorded, and gradients flow as if it had not been."""

from __future__ import annotations

from inplace_lint.core.event import Event, Lost
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, named, ran
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a write that the recorded history does not contain."""
    if not isinstance(event, Lost):
        return None
    write = event.write
    reads = (Mark(Role.ALIAS, event.read.site.place, "used here, with its old history"),) if event.read else ()
    if event.of_slope:
        message = (
            f"{named(write.symbol)} gets the value of a gradient computed with `create_graph`, but not its history"
        )
        cure = "compute with a new tensor instead of writing to the parameter; or leave out `create_graph`"
    elif event.starves:
        message = (
            f"{named(write.symbol)} gets values without their history: "
            "the parameters that they are computed with get no gradient"
        )
        cure = "compute with the new values themselves, instead of writing them to the parameter"
    elif event.beside:
        message = f"{named(write.symbol)} shares its memory with a tensor whose history does not contain this write"
        cure = "write into a `clone()` of the detached tensor; or write the tensor itself by a recorded operation"
    else:
        message = (
            f"{named(write.symbol)} is changed, but the change is not recorded: its gradient is that of the old value"
        )
        cure = (
            "write the tensor itself by a recorded operation, with gradients on; "
            "or detach the tensor if no gradient is meant to flow"
        )
    return Draft(message=message, write=write, related=(*ran(write), *reads), help=cure, assumptions=event.assumptions)


RULE = Rule(
    "IPL305",
    "lost-gradient",
    Harm.SILENT,
    judge,
    variants=(Variant.RECORDED, Variant.REBOUND),
    traced_as="IPL302",
    yields_to_errors=True,  # where backward raises, there is no gradient that could be wrong
    yields_to="IPL302",  # which names what backward computes from the new value
)
