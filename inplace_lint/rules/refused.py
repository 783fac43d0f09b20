"""What the rules about refused writes have in common."""

from __future__ import annotations

from inplace_lint.core.event import Refused
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, named, primary, ran, short


def refused(event: Refused, fact: str, cure: str) -> Draft:
    """Say that a write is refused, and where the tensor came from."""
    write = event.write
    marks = ran(write)
    if event.origin is not None and write.producer:
        marks = (Mark(Role.ALIAS, event.origin.place, f"made here by {short(write.producer)}"), *marks)
    return Draft(
        place=primary(write),
        message=f"{named(write.symbol)} {fact}",
        label="written here",
        related=marks,
        write=write,
        help=cure,
        says=event.check,
        producer=write.producer,
        assumptions=event.assumptions,
    )
