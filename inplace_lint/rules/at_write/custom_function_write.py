"""IPL210: a write to an input that a custom autograd function has returned."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL210",
    "custom-function-write",
    Refusal(
        "custom_view",
        "is an input or a view that a custom function returned, and in-place writes to it are refused",
        "return a copy from the custom function",
        Repair.RETURN_COPY,
    ),
    Refusal(
        "custom_view_base",
        "is overwritten after a custom function returned it or a view of it, which can no longer be used",
        "return a copy from the custom function",
    ),
    Refusal("dirty", "is marked as dirty by the custom function, but not returned by it", "return it"),
)
