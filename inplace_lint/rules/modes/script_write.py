"""IPL401: a write that a compiled function does not do."""

from __future__ import annotations

from inplace_lint.core.event import Event, Ignored
from inplace_lint.rules.draft import Draft, Repair, named
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report an in-place statement that the compiled function leaves out."""
    if not isinstance(event, Ignored):
        return None
    return Draft(
        message=(
            f"{named(event.write.symbol)} is not overwritten: the compiled function only keeps what a name is bound to"
        ),
        write=event.write,
        label="this write is left out",
        help=f"bind the result: `{event.write.symbol or 'x'} = ...`, without the underscore",
        assumptions=event.assumptions,
        repair=Repair.NEW_TENSOR,
    )


RULE = Rule("IPL401", "script-write", Harm.SILENT, judge, variants=(Variant.UNCOMPILED,))
