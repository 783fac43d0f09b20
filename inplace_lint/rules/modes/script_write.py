"""IPL401: a write that a compiled function does not do."""

from __future__ import annotations

from inplace_lint.core.event import Event, Ignored
from inplace_lint.core.finding import Severity
from inplace_lint.rules.draft import Draft, named, primary


def judge(event: Event) -> Draft | None:
    """Speak of an in-place statement that the compiled function leaves out; nothing raises: a warning."""
    if not isinstance(event, Ignored):
        return None
    what = named(event.write.symbol)
    return Draft(
        place=primary(event.write),
        message=f"{what} is not overwritten: the compiled function keeps only what a statement binds",
        label="this write is left out",
        related=(),
        write=event.write,
        help=f"bind the result: `{event.write.symbol or 'x'} = ...`, without the underscore",
        worst=Severity.WARNING,
        assumptions=event.assumptions,
    )
