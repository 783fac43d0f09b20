"""IPL204: a write with gradients on to a view that was made while they were off."""

from __future__ import annotations

from inplace_lint.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses by this check."""
    if not isinstance(event, Refused) or event.check != "no_grad_view":
        return None
    return refused(
        event,
        "is a view that was made while gradients were off, and in-place writes to it with gradients on are refused",
        "make the view and the write under the same mode",
    )
