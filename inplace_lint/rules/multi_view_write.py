"""IPL203: a write to one of several views that a function returned."""

from __future__ import annotations

from inplace_lint.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses by this check."""
    if not isinstance(event, Refused) or event.check != "multi_view":
        return None
    return refused(event, "is one of several views that one function returned, and in-place writes to it are refused", "")
