"""IPL306: an update that was meant for another tensor, and is lost: a variable is rebound, or a copy is written."""

from __future__ import annotations

from inplace_lint.core.event import Event, LostUpdate
from inplace_lint.rules.draft import Draft, named, ran
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report an augmented assignment that leaves a parameter as it was, or a write to a copy that nothing reads."""
    if not isinstance(event, LostUpdate):
        return None
    write = event.write
    if event.copy:
        return Draft(
            message=f"{named(write.symbol)} is a copy that nothing reads after this write",
            write=write,
            label="changes the copy only",
            related=ran(write),
            help=_written_through(event.written),
            assumptions=event.assumptions,
        )
    return Draft(
        message=(f"{named(write.symbol)} is rebound to a new tensor here, and the parameter keeps its old value"),
        write=write,
        label="rebinds the name and writes nothing",
        help=f"write into the parameter: `{write.symbol}.set_value(...)`",
        assumptions=event.assumptions,
    )


def _written_through(assignment: str) -> str:
    if assignment:
        return f"assign to the elements themselves: `{assignment}`"
    return "assign to a slice of the tensor that the copy was made from"


RULE = Rule("IPL306", "lost-update", Harm.SILENT, judge, variants=(Variant.UPDATE, Variant.STORED))
