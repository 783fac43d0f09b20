"""From events to findings: one short pure function a rule."""

from __future__ import annotations

from inplace_lint.rules import (
    clobbered_alias,
    inplace_activation_after_save,
    leaf_view_write,
    leaf_write,
    modified_after_save,
    multi_view_write,
    overlapping_write,
    parameter_write_before_backward,
)
from inplace_lint.rules.draft import Rule

RULES: tuple[Rule, ...] = (
    Rule("IPL101", "modified-after-save", modified_after_save.judge),
    Rule("IPL102", "inplace-activation-after-save", inplace_activation_after_save.judge),
    Rule("IPL103", "parameter-write-before-backward", parameter_write_before_backward.judge),
    Rule("IPL201", "leaf-write", leaf_write.judge),
    Rule("IPL202", "leaf-view-write", leaf_view_write.judge),
    Rule("IPL203", "multi-view-write", multi_view_write.judge),
    Rule("IPL206", "overlapping-write", overlapping_write.judge),
    Rule("IPL301", "clobbered-alias", clobbered_alias.judge),
)
