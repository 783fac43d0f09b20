"""IPL403: a write that the framework refuses, and that compiled code carries out with other values."""

from __future__ import annotations

from inplace_lint.core.event import Accepted, Event
from inplace_lint.rules.draft import Draft, made, named
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a write of memory that overlaps, in compiled code."""
    if not isinstance(event, Accepted) or not event.compiled:
        return None
    write = event.write
    return Draft(
        message=f"{named(write.symbol)} overlaps what is written: PyTorch refuses it, and compiled code carries it out",
        write=write,
        related=made(event.origin, write),
        help="write into a `clone()`",
        assumptions=event.assumptions,
    )


RULE = Rule("IPL403", "compiled-write", Harm.SILENT, judge, variants=(Variant.UNCOMPILED,), supersedes="IPL206")
