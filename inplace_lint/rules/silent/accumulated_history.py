"""IPL308: a sum keeps the graph of each value that it adds up."""

from __future__ import annotations

from inplace_lint.core.event import Accumulated, Event
from inplace_lint.rules.draft import Draft, named, ran
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a sum to which a value is added whose history backward has used up."""
    if not isinstance(event, Accumulated):
        return None
    write = event.write
    return Draft(
        message=f"{named(write.symbol)} keeps the graph of each value that is added to it, although backward has run "
        "through it",
        write=write,
        label="added here",
        related=ran(write),
        help="add the number, with `.item()`; or the value without its graph, with `.detach()`",
        assumptions=event.assumptions,
    )


RULE = Rule("IPL308", "accumulated-history", Harm.SILENT, judge, variants=(Variant.DETACHED,), yields_to_errors=True)
