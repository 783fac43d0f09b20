"""IPL206: a write to a tensor several elements of which are one place in memory."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL206",
    "overlapping-write",
    Refusal(
        "overlap",
        "was expanded, so several of its elements share one memory location, and in-place writes to it are refused",
        repair=Repair.NEW_TENSOR,
    ),
    Refusal(
        "expanded",
        "was expanded, so several of its elements share one memory location, and backward refuses such a write",
        repair=Repair.NEW_TENSOR,
        says="overlap",
    ),
    Refusal(
        "operands_overlap",
        "shares part of its memory with an operand of this write, which is refused",
        repair=Repair.COPY_OPERAND,
    ),
)
