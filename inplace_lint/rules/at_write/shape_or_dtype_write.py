"""IPL207: a write that would have to change what kind of tensor it is."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL207",
    "shape-or-dtype-write",
    Refusal(
        "cast",
        "holds whole numbers or flags, and the result of this write does not fit in place",
        repair=Repair.NEW_VALUE,
    ),
    Refusal(
        "mixed",
        "and what is written to it are of two kinds, whole numbers and fractions, which do not mix",
        "convert one of them first",
    ),
    Refusal(
        "shape",
        "has fewer axes than what is written to it, and a write in place cannot add any",
        repair=Repair.NEW_VALUE,
    ),
    Refusal(
        "resize",
        "requires grad, and what requires grad cannot be resized in place",
        "make a tensor of the new shape instead",
    ),
    Refusal("detach_view", "is a view, and views cannot be detached in place", "use `detach()`", Repair.NEW_VALUE),
    Refusal(
        "no_derivative",
        "is given other memory, and backward cannot run through that: it has no derivative",
        repair=Repair.REBIND,
    ),
    Refusal("flag", "has a history, and only leaves can stop requiring grad", "use `detach()`", Repair.REBIND),
)
