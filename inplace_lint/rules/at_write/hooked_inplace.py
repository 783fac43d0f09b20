"""IPL209: a write to an input or output of a module with a full backward hook."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL209",
    "hooked-inplace",
    Refusal(
        "hooked_view",
        "passes through a full backward hook, which makes it a view, and in-place writes to it are refused",
        repair=Repair.VIEW_ALONE,
        by_flag=True,
    ),
)
