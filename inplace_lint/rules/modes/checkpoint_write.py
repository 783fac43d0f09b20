"""IPL402: a checkpointed function runs again in backward, on values that were changed since."""

from __future__ import annotations

from inplace_lint.core.event import Event, Recomputed
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, named, primary, ran, short


def judge(event: Event) -> Draft | None:
    """Speak of a changed value that is read again; nothing raises, so it is never above a warning."""
    if not isinstance(event, Recomputed):
        return None
    save, write = event.save, event.write
    what = named(write.symbol or save.symbol)
    return Draft(
        place=primary(write),
        message=f"{what} is overwritten, and backward runs the checkpointed function again with the new value",
        label="written here",
        related=(Mark(Role.SAVE, save.site.place, f"read again in backward: by {short(save.op)}"), *ran(write)),
        write=write,
        help="write before the checkpointed call, or after backward",
        worst=Severity.WARNING,
        assumptions=event.assumptions,
    )
