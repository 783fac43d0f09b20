"""IPL202: a write to a view of a leaf tensor that requires grad."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL202",
    "leaf-view-write",
    Refusal(
        "leaf_view",
        "is a view of a leaf that requires grad, and in-place writes to it are refused while gradients are recorded",
        "wrap the write in `with {no_grad}:`; or write into a `clone()` if gradients are to flow through it",
        Repair.WITHOUT_GRAD,
        of_item=True,
    ),
)
