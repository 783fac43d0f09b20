"""IPL207: a write that would have to change what kind of tensor it is."""

from __future__ import annotations

from inplace_lint.core.event import Event, Refused
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.refused import refused

_SAYS = {
    "cast": ("holds whole numbers or flags, and the result of this write does not fit in place", "convert it first"),
    "mixed": (
        "and what is written to it are of two kinds, whole numbers and fractions, which do not mix",
        "convert one of them first",
    ),
    "shape": ("has fewer axes than what is written to it, and a write in place cannot add any", "write `x = x + y`"),
    "resize": (
        "requires grad, and what requires grad cannot be resized in place",
        "use `reshape`, or make a new tensor",
    ),
    "detach_view": ("is a view, and views cannot be detached in place", "use `detach()`"),
    "no_derivative": (
        "is given other memory, and backward cannot run through that: it has no derivative",
        "bind the name to the other tensor",
    ),
    "flag": ("has a history, and only leaves can stop requiring grad", "use `detach()`"),
}


def judge(event: Event) -> Draft | None:
    """Speak of a write that the framework refuses by one of these checks."""
    if not isinstance(event, Refused) or event.check not in _SAYS:
        return None
    return refused(event, *_SAYS[event.check])
