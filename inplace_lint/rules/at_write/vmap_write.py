"""IPL211: a write that a transform of the function around it cannot do."""

from __future__ import annotations

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused

_SAYS = {
    "batched": (
        "has room for one example, and what is written to it stands for all of the batch",
        "make it from an argument (`x.new_zeros(...)`), or compute a new tensor",
    ),
    "captured": (
        "was made outside of the function whose gradient is taken, and must not be written in it",
        "pass it in as an argument and return the new value",
    ),
}


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses because of a transform."""
    if not isinstance(event, Refused) or event.check not in _SAYS:
        return None
    return refused(event, *_SAYS[event.check])
