"""IPL203: a write to one of several views that a function returned, or to the tensor that they are views of."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused
from inplace_lint.rules.rule import Harm, Rule

judge = refused(
    {
        "multi_view": Refusal(
            "is one of several views that one function returned, and in-place writes to it are refused",
            repair=Repair.VIEW_ALONE,
        ),
        "multi_view_base": Refusal(
            "is overwritten after one function returned several views of it, which may not be used then",
            repair=Repair.NEW_TENSOR,
        ),
    }
)
RULE = Rule("IPL203", "multi-view-write", Harm.AT_WRITE, judge)
