"""IPL210: a write to an input that a custom autograd function has returned."""

from __future__ import annotations

from inplace_lint.rules.refused import Refusal, refused
from inplace_lint.rules.rule import Harm, Rule

judge = refused(
    {
        "custom_view": Refusal(
            "is an input that a custom function returned, which makes it a view, and in-place writes to it are refused",
            "return a copy from the custom function, or mark the input as dirty there",
        ),
        "dirty": Refusal("is marked as dirty by the custom function, but not returned by it", "return it"),
    }
)
RULE = Rule("IPL210", "custom-function-write", Harm.AT_WRITE, judge)
