"""IPL203: a write to one of several views that a function returned, or to what they are views of."""

from __future__ import annotations

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused

_FACTS = {
    "multi_view": "is one of several views that one function returned, and in-place writes to it are refused",
    "multi_view_base": "is overwritten after one function returned several views of it, which may not be used then",
}


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses by this check, or that makes it refuse the views."""
    if not isinstance(event, Refused) or event.check not in _FACTS:
        return None
    return refused(event, _FACTS[event.check], "")
