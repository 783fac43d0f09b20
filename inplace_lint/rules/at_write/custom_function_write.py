"""IPL210: a write to what a custom autograd function has returned of its input."""

from __future__ import annotations

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses because a custom function made the view."""
    if isinstance(event, Refused) and event.check == "dirty":
        return refused(event, "is marked as dirty by the custom function, but not returned by it", "return it")
    if not isinstance(event, Refused) or event.check != "custom_view":
        return None
    return refused(
        event,
        "is an input that a custom function returned, which makes it a view, and in-place writes to it are refused",
        "return a copy from the custom function, or mark the input as dirty there",
    )
