"""IPL402: a checkpointed function runs again in backward, on values that were changed since."""

from __future__ import annotations

from inplace_lint.core.event import Event, Recomputed
from inplace_lint.core.finding import Role
from inplace_lint.rules.draft import Draft, Mark, named, ran, short
from inplace_lint.rules.rule import Harm, Rule, Variant


def judge(event: Event) -> Draft | None:
    """Report a changed value that is read again in backward."""
    if not isinstance(event, Recomputed):
        return None
    save, write = event.save, event.write
    what = named(write.symbol or save.symbol)
    return Draft(
        message=f"{what} is overwritten, and backward runs the checkpointed function again with the new value",
        write=write,
        related=(Mark(Role.SAVE, save.site.place, f"read again in backward, by {short(save.op)}"), *ran(write)),
        help="write before the checkpointed call; or write after backward",
        assumptions=event.assumptions,
    )


RULE = Rule(
    "IPL402", "checkpoint-write", Harm.SILENT, judge, variants=(Variant.DIRECT, Variant.WRITE), yields_to_errors=True
)
