"""IPL201: a write to a leaf tensor that requires grad."""

from __future__ import annotations

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses by this check."""
    if not isinstance(event, Refused):
        return None
    if event.check == "early_view":
        return refused(
            event,
            "is a view from before its base required grad: in-place writes to it are refused like those to a leaf",
            "take the view anew from its base before it is written",
        )
    if event.check != "leaf":
        return None
    return refused(
        event,
        "is a leaf that requires grad, and in-place writes to it are refused while gradients are recorded",
        "wrap the write in `with {no_grad}:`, or make a new tensor",
    )
