"""IPL305: a value is changed while nothing is recorded, and gradients go on as if it had not been."""

from __future__ import annotations

from inplace_lint.core.event import Event, Lost
from inplace_lint.core.finding import Role, Severity
from inplace_lint.rules.draft import Draft, Mark, named, primary, ran


def judge(event: Event) -> Draft | None:
    """Speak of a write that the recorded history does not know; nothing raises, so it is never above a warning."""
    if not isinstance(event, Lost):
        return None
    write = event.write
    reads = (Mark(Role.ALIAS, event.read.site.place, "used here, with the history of before"),) if event.read else ()
    return Draft(
        place=primary(write),
        message=f"{named(write.symbol)} is changed and nobody records it: its gradient is that of the old value",
        label="written here",
        related=(*ran(write), *reads),
        write=write,
        help="write it by a recorded call with gradients on, or detach the tensor if no gradient is meant to flow",
        worst=Severity.WARNING,
        assumptions=event.assumptions,
    )
