"""IPL203: a write to one of several views that a function returned, or to the tensor that they are views of."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL203",
    "multi-view-write",
    Refusal(
        "multi_view",
        "is one of several views that one function returned, and in-place writes to it are refused",
        repair=Repair.VIEW_ALONE,
    ),
    Refusal(
        "multi_view_base",
        "is overwritten after one function returned several views of it, which can no longer be used",
        repair=Repair.NEW_TENSOR,
    ),
)
