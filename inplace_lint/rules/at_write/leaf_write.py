"""IPL201: a write to a leaf tensor that requires grad."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL201",
    "leaf-write",
    Refusal(
        "leaf",
        "is a leaf that requires grad, and in-place writes to it are refused while gradients are recorded",
        "wrap the write in `with {no_grad}:`; or write into a `clone()` if gradients are to flow through it",
        Repair.WITHOUT_GRAD,
    ),
    Refusal(
        "early_view",
        "is a view from before its base required grad: in-place writes to it are refused, as for a leaf",
        "take the view from its base again before writing to it",
        says="leaf",
    ),
    Refusal(
        "dirty_leaf",
        "is a leaf that requires grad, and a custom function may not mark one as dirty",
        "apply the function to a computed tensor, such as a `clone()`",
    ),
)
