"""Which statements raise errors, told from their text: a path that raises ends."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.interp.program import Program
from inplace_lint.ir import nodes as ir


def may_raise(program: Program, node: ir.If | ir.Function) -> bool:
    """Say whether an error may be raised by a statement, itself and not by what it calls."""
    known = program.raising.get(id(node))
    if known is None or known[0] is not node:
        known = program.raising[id(node)] = (node, _has_raise(node.body) or _has_raise(getattr(node, "orelse", ())))
    return known[1]


def _has_raise(body: Sequence[ir.Stmt]) -> bool:
    for node in body:
        if isinstance(node, ir.Raise | ir.Assert):
            return True
        if isinstance(node, ir.FunctionDef | ir.ClassDef):
            continue
        inner = [part for part in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")) if part]
        cases = [*getattr(node, "cases", ()), *getattr(node, "handlers", ())]
        if any(_has_raise(part) for part in (*inner, *(case.body for case in cases))):
            return True
    return False


def refuses(body: Sequence[ir.Stmt]) -> bool:
    """Say whether statements do nothing but raise an error, with what is said before it."""
    return isinstance(body[-1], ir.Raise) and all(isinstance(node, ir.Assign | ir.ExprStmt) for node in body[:-1])
