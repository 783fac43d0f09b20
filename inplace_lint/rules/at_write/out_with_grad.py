"""IPL208: a result that is written into `out=` while gradients are recorded."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL208",
    "out-with-grad",
    Refusal(
        "out_grad",
        "is passed as `out=` to a call on tensors that require grad, which autograd does not support",
        repair=Repair.NEW_VALUE,
    ),
    Refusal(
        "out_leaf",
        "is a leaf that requires grad, and cannot be passed as `out=` while gradients are recorded",
        "pass the result to `copy_` of {tensor}, in `with {no_grad}:`",
        says="out_grad",
    ),
)
