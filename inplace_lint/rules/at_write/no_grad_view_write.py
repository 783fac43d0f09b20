"""IPL204: a write with gradients on to a view that was made while they were off, or one before such a view is used."""

from __future__ import annotations

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused

_FACTS = {
    "no_grad_view": (
        "is a view that was made while gradients were off, and in-place writes to it with gradients on are refused"
    ),
    "no_grad_view_base": (
        "is overwritten, and with it a view that was made while gradients were off, which may not be used with them on"
    ),
}
_CURES = {
    "no_grad_view": "make the view and the write under the same mode",
    "no_grad_view_base": "make the view again after the write",
}


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses by this check, or that makes it refuse the view."""
    if not isinstance(event, Refused) or event.check not in _FACTS:
        return None
    return refused(event, _FACTS[event.check], _CURES[event.check])
