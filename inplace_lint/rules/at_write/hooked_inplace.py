"""IPL209: a write to what a module with a full backward hook was given or returns."""

from __future__ import annotations

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses because of a hook."""
    if not isinstance(event, Refused) or event.check != "hooked_view":
        return None
    return refused(
        event,
        "passes through a full backward hook, which makes it a view, and in-place writes to it are refused",
        "set `inplace=False`" if event.write.flag is not None else "",
    )
