"""IPL205: a tensor that was made in inference mode, written or needed for backward outside of it."""

from __future__ import annotations

from inplace_lint.rules.refused import Refusal, refused
from inplace_lint.rules.rule import Harm, Rule

_CURE = "make {tensor} under `no_grad`, or clone it"
judge = refused(
    {
        "inference": Refusal("was made in inference mode, and in-place writes to it are refused outside of it", _CURE),
        "inference_view": Refusal(
            "is a view that was made in inference mode, and in-place writes to it are refused outside of it", _CURE
        ),
        "inference_save": Refusal(
            "was made in inference mode, and cannot be saved for backward", _CURE, label="saved here"
        ),
    }
)
RULE = Rule("IPL205", "inference-tensor-write", Harm.AT_WRITE, judge)
