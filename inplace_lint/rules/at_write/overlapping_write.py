"""IPL206: a write to a tensor several elements of which are one place in memory."""

from __future__ import annotations

from dataclasses import replace

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses by this check."""
    if isinstance(event, Refused) and event.check == "operands_overlap":
        return refused(event, "shares part of its memory with an operand of this write, which is refused", "")
    if isinstance(event, Refused) and event.check == "expanded":
        draft = refused(
            event,
            "was expanded, so that several of its elements are one place in memory, and backward refuses such a write",
            "",
        )
        return replace(draft, says="overlap")
    if not isinstance(event, Refused) or event.check != "overlap":
        return None
    return refused(
        event,
        "was expanded, so that several of its elements are one place in memory, and in-place writes to it are refused",
        "",
    )
