"""IPL403: a write that the framework refuses, and that compiled code carries out with other values."""

from __future__ import annotations

from inplace_lint.core.event import Accepted, Event
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, named, primary, ran, short


def judge(event: Event) -> Draft | None:
    """Speak of a write of memory that overlaps, in compiled code; nothing raises there: a warning."""
    if not isinstance(event, Accepted):
        return None
    write = event.write
    marks = ran(write)
    if event.origin is not None and write.producer:
        marks = (Mark(Role.ALIAS, event.origin.place, f"made here by {short(write.producer)}"), *marks)
    return Draft(
        place=primary(write),
        message=f"{named(write.symbol)} overlaps what is written: refused as it stands, carried out in compiled code",
        label="written here",
        related=marks,
        write=write,
        help="write a `clone()`, or compute a new tensor",
        worst=Severity.WARNING,
        assumptions=event.assumptions,
    )
