"""IPL310: a backward or a hook writes into the gradient that it is given."""

from __future__ import annotations

from inplace_lint.core.event import Altered, Event
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, Repair, named
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a write into a gradient that is also passed to another operation."""
    if not isinstance(event, Altered):
        return None
    write, shared = event.write, event.shared
    says = "backward passes this gradient to several operations, without a copy"
    return Draft(
        message=f"{named(write.symbol)} is a gradient that is also passed to another operation, which sees this write",
        write=write,
        related=() if shared is None else (Mark(Role.ALIAS, shared.place, says),),
        assumptions=event.assumptions,
        help="" if event.returned else "return the changed gradient as a new tensor",
        repair=Repair.NEW_TENSOR if event.returned else None,
    )


RULE = Rule("IPL310", "gradient-write", Harm.SILENT, judge, variants=(Variant.WRITE, Variant.APART))
