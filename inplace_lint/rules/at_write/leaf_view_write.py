"""IPL202: a write to a view of a leaf tensor that requires grad."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused
from inplace_lint.rules.rule import Harm, Rule

judge = refused(
    {
        "leaf_view": Refusal(
            "is a view of a leaf that requires grad, and in-place writes to it are refused"
            " while gradients are recorded",
            "wrap the write in `with {no_grad}:`, or make a new tensor",
            Repair.WITHOUT_GRAD,
        )
    }
)
RULE = Rule("IPL202", "leaf-view-write", Harm.AT_WRITE, judge)
