"""IPL205: a tensor that was made in inference mode, written or needed for backward outside of it."""

from __future__ import annotations

from dataclasses import replace

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft, named
from inplace_lint.rules.refused import refused

_FACTS = {
    "inference": "was made in inference mode, and in-place writes to it are refused outside of it",
    "inference_view": "is a view that was made in inference mode, and in-place writes to it are refused outside of it",
    "inference_save": "was made in inference mode, and cannot be saved for backward",
}


def judge(event: Event) -> Draft | None:
    """Speak of a write or save that the framework refuses because of the mode in which the tensor was made."""
    if not isinstance(event, Refused) or event.check not in _FACTS:
        return None
    draft = refused(event, _FACTS[event.check], f"make {named(event.write.symbol)} under `no_grad`, or clone it")
    return replace(draft, label="saved here") if event.check == "inference_save" else draft
