"""How expressions are spelled, whatever their names mean."""

from __future__ import annotations

from inplace_lint.ir import nodes as ir


def spells(decorator: ir.Expr, name: str) -> bool:
    """Check whether the last part of a decorator's dotted name is this name, with or without a call."""
    match decorator:
        case ir.Call(_, func, _, _):
            return spells(func, name)
        case ir.Attr(_, _, last):
            return last == name
        case ir.Name(_, last):
            return last == name
        case _:
            return False
