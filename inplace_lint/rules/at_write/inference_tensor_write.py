"""IPL205: a tensor that was made in inference mode, written or needed for backward outside of it."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

_CURE = "make {tensor} under `no_grad` instead"
RULE = refused(
    "IPL205",
    "inference-tensor-write",
    Refusal(
        "inference",
        "was created in inference mode, and in-place writes to it are refused outside of it",
        _CURE,
        Repair.MODE,
    ),
    Refusal(
        "inference_view",
        "is a view that was created in inference mode, and in-place writes to it are refused outside of it",
        "create the view and write to it in the same mode",
    ),
    Refusal(
        "inference_save",
        "was created in inference mode, and cannot be saved for backward",
        _CURE,
        Repair.MODE,
        label="saved here",
    ),
)
