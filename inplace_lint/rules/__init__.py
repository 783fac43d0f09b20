"""
The rules: each judges events of the analysis or of a run, and makes a draft of a finding from those it is about.

A rule is one module in the folder of its group, which defines its `RULE`, and a line in `RULES`.
"""

from __future__ import annotations

from collections.abc import Mapping

from inplace_lint.rules.at_import import invalid_schema
from inplace_lint.rules.at_write import (
    custom_function_write,
    hooked_inplace,
    inference_tensor_write,
    leaf_view_write,
    leaf_write,
    multi_view_write,
    no_grad_view_write,
    out_with_grad,
    overlapping_write,
    shape_or_dtype_write,
    unsupported_inplace,
    vmap_write,
)
from inplace_lint.rules.backward import (
    inplace_activation_after_save,
    kept_history,
    modified_after_save,
    parameter_write_before_backward,
)
from inplace_lint.rules.modes import checkpoint_write, compiled_write, script_write
from inplace_lint.rules.rule import Rule
from inplace_lint.rules.silent import (
    accumulated_history,
    caller_tensor_write,
    clobbered_alias,
    grad_alias,
    gradient_write,
    lost_gradient,
    lost_update,
    snapshot_alias,
    unseen_overlap,
    untracked_write,
)
from inplace_lint.rules.style import inplace_in_forward, inplace_opportunity
from inplace_lint.rules.text import INVALID_SYNTAX, UNUSED_SUPPRESSION

RULES: tuple[Rule, ...] = (
    modified_after_save.RULE,
    inplace_activation_after_save.RULE,
    parameter_write_before_backward.RULE,
    kept_history.RULE,
    leaf_write.RULE,
    leaf_view_write.RULE,
    multi_view_write.RULE,
    no_grad_view_write.RULE,
    inference_tensor_write.RULE,
    overlapping_write.RULE,
    shape_or_dtype_write.RULE,
    out_with_grad.RULE,
    hooked_inplace.RULE,
    custom_function_write.RULE,
    vmap_write.RULE,
    unsupported_inplace.RULE,
    clobbered_alias.RULE,
    untracked_write.RULE,
    caller_tensor_write.RULE,
    snapshot_alias.RULE,
    lost_gradient.RULE,
    lost_update.RULE,
    grad_alias.RULE,
    accumulated_history.RULE,
    unseen_overlap.RULE,
    gradient_write.RULE,
    script_write.RULE,
    checkpoint_write.RULE,
    compiled_write.RULE,
    inplace_in_forward.RULE,
    inplace_opportunity.RULE,
    invalid_schema.RULE,
)
TEXT_RULES: tuple[Rule, ...] = (UNUSED_SUPPRESSION, INVALID_SYNTAX)
BUILT_IN = (*RULES, *TEXT_RULES)
_BY_CODE = {rule.code: rule for rule in BUILT_IN}
RULE_OF: Mapping[str, Rule] = _BY_CODE  # with those of the plugins that this process has loaded


def register(rule: Rule) -> None:
    """Add the rule of a plugin to `RULE_OF`."""
    _BY_CODE[rule.code] = rule
