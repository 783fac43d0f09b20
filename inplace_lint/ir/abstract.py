"""Methods that a derived class has to define, by their own text: `def forward(self, x): raise NotImplementedError`."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.ir import nodes as ir

OPEN = "NotImplementedError"
_WITH_DOCSTRING = 2


def is_abstract(body: Sequence[ir.Stmt], *, declared: bool) -> bool:
    """Check whether a body does nothing but raise `NotImplementedError`, or nothing where that is `declared`."""
    if declared and all(_does_nothing(node) for node in body):
        return True
    last = body[-1]
    if len(body) > _WITH_DOCSTRING or not isinstance(last, ir.Raise) or last.value is None:
        return False
    error = last.value.func if isinstance(last.value, ir.Call) else last.value
    return isinstance(error, ir.Name) and error.id == OPEN


def _does_nothing(node: ir.Stmt) -> bool:
    """Check whether a statement is `pass`, a docstring or another constant."""
    return (isinstance(node, ir.Jump) and node.kind == "pass") or (
        isinstance(node, ir.ExprStmt) and isinstance(node.value, ir.Const)
    )
