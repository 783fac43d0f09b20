"""IPL204: a write with gradients on to a view that was made while they were off, or one before such a view is used."""

from __future__ import annotations

from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL204",
    "no-grad-view-write",
    Refusal(
        "no_grad_view",
        "is a view that was created while gradients were off, and in-place writes to it with gradients on are refused",
        "create the view and write to it in the same mode",
    ),
    Refusal(
        "no_grad_view_base",
        "is overwritten, and with it a view that was created while gradients were off, which can no longer be used "
        "with them on",
        "create the view again after the write",
    ),
)
