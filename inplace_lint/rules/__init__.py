"""From events to findings: one short pure function a rule."""

from __future__ import annotations

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
    modified_after_save,
    parameter_write_before_backward,
)
from inplace_lint.rules.draft import Rule
from inplace_lint.rules.modes import checkpoint_write, compiled_write, script_write
from inplace_lint.rules.silent import (
    caller_tensor_write,
    clobbered_alias,
    grad_alias,
    lost_gradient,
    lost_update,
    snapshot_alias,
    untracked_write,
)
from inplace_lint.rules.style import inplace_in_forward

RULES: tuple[Rule, ...] = (
    Rule("IPL101", "modified-after-save", modified_after_save.judge),
    Rule("IPL102", "inplace-activation-after-save", inplace_activation_after_save.judge),
    Rule("IPL103", "parameter-write-before-backward", parameter_write_before_backward.judge),
    Rule("IPL201", "leaf-write", leaf_write.judge),
    Rule("IPL202", "leaf-view-write", leaf_view_write.judge),
    Rule("IPL203", "multi-view-write", multi_view_write.judge),
    Rule("IPL204", "no-grad-view-write", no_grad_view_write.judge),
    Rule("IPL205", "inference-tensor-write", inference_tensor_write.judge),
    Rule("IPL206", "overlapping-write", overlapping_write.judge),
    Rule("IPL207", "shape-or-dtype-write", shape_or_dtype_write.judge),
    Rule("IPL208", "out-with-grad", out_with_grad.judge),
    Rule("IPL209", "hooked-inplace", hooked_inplace.judge),
    Rule("IPL210", "custom-function-write", custom_function_write.judge),
    Rule("IPL211", "vmap-write", vmap_write.judge),
    Rule("IPL212", "unsupported-inplace", unsupported_inplace.judge),
    Rule("IPL301", "clobbered-alias", clobbered_alias.judge),
    Rule("IPL302", "untracked-write", untracked_write.judge),
    Rule("IPL303", "caller-tensor-write", caller_tensor_write.judge, opinion=True),
    Rule("IPL304", "snapshot-alias", snapshot_alias.judge),
    Rule("IPL305", "lost-gradient", lost_gradient.judge),
    Rule("IPL306", "lost-update", lost_update.judge),
    Rule("IPL307", "grad-alias", grad_alias.judge),
    Rule("IPL401", "script-write", script_write.judge),
    Rule("IPL402", "checkpoint-write", checkpoint_write.judge),
    Rule("IPL403", "compiled-write", compiled_write.judge),
    Rule("IPL501", "inplace-in-forward", inplace_in_forward.judge, default=False, opinion=True),
)
