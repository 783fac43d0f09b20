"""IPL207: a write that would have to change what kind of tensor it is."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL207",
    "shape-or-dtype-write",
    Refusal(
        "cast",
        "has an integer or boolean dtype, which cannot hold the result of this write",
        repair=Repair.NEW_VALUE,
    ),
    Refusal(
        "mixed",
        "and what is written to it have integer and floating point dtypes, which cannot be mixed",
        "convert one of them first",
    ),
    Refusal(
        "shape",
        "has fewer dimensions than what is written to it, and an in-place write cannot add any",
        repair=Repair.NEW_VALUE,
    ),
    Refusal(
        "resize",
        "requires grad, and tensors that require grad cannot be resized in place",
        "create a tensor of the new shape instead",
    ),
    Refusal("detach_view", "is a view, and views cannot be detached in place", "use `detach()`", Repair.NEW_VALUE),
    Refusal(
        "no_derivative",
        "is given other memory, and backward cannot run through that, which has no derivative",
        repair=Repair.REBIND,
    ),
    Refusal("flag", "has a history, and only leaves can stop requiring grad", "use `detach()`", Repair.REBIND),
)
