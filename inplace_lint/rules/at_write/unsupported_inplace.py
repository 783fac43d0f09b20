"""IPL212: a form of writing in place that the framework does not have."""

from __future__ import annotations

from inplace_lint.rules.draft import Repair
from inplace_lint.rules.refused import Refusal, refused

RULE = refused(
    "IPL212",
    "unsupported-inplace",
    Refusal(
        "operand",
        "is written by a method that takes a tensor, not a plain number, as its operand",
        "pass a tensor instead of the number: `full_like`",
        Repair.TENSOR_OPERAND,
    ),
    Refusal(
        "keyword",
        "is not an argument of this call, and the framework refuses it",
        "leave it out",
        Repair.LEAVE_OUT,
    ),
    Refusal(
        "parameter",
        "is a parameter, and this statement would replace it by a new tensor, which the layer refuses",
        "write it with `set_value`",
        Repair.ASSIGN,
    ),
)
