"""
Whether code does nothing with a variable but write into what it holds, as its text says.

    q = packed.chunk(3)[0]
    q.scale_(0.5)
    q[0] += 1
    return packed          # nothing reads `q`
"""

from __future__ import annotations

from collections.abc import Callable

from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk


def value_of(body: object, name: str) -> ir.Expr | None:
    """Return what a variable is bound to, if that happens once and each other statement with it writes into it."""
    values: list[ir.Expr] = []
    reads = 0
    for node in walk(body):
        if _is_unclear(node, name):
            return None
        reads += _reads(node, name)
        match node:
            case ir.Assign(_, (ir.Name(_, bound),), value) if bound == name:
                values.append(value)
                reads -= 1
            case ir.AugAssign(_, _, target, _) if not isinstance(target, ir.Subscript):
                reads -= _is_part_of(target, name)
    return values[0] if len(values) == 1 and reads == 0 else None


def is_only_written(body: object, name: str, describes: Callable[[str], bool]) -> bool:
    """Check whether code does nothing with a variable but write into what it holds, and read what describes that."""
    reads = 0
    for node in walk(body):
        if _is_unclear(node, name):
            return False
        reads += _reads(node, name)
        match node:
            case ir.Attr(_, ir.Name(_, owner), attribute) if owner == name and describes(attribute):
                reads -= 1
    return reads == 0


def _is_unclear(node: object, name: str) -> bool:
    """Check whether a node says that a variable is not one of the function, or does something unknown with it."""
    match node:
        case ir.Scope(_, names):
            return name in names
        case ir.Unknown(_, _, read, written):
            return name in {*read, *written}
        case _:
            return False


def _reads(node: object, name: str) -> int:
    """Return 1 for a variable, and for a statement minus 1 for each place in which it only writes into that."""
    match node:
        case ir.Name():
            return int(node.id == name)
        case ir.Assign(_, targets, _):
            return -sum(isinstance(one, ir.Subscript) and _is_part_of(one, name) for one in targets)
        case ir.AugAssign(_, _, ir.Subscript() as target, _):
            return -int(_is_part_of(target, name))
        case ir.ExprStmt(_, ir.Call(_, ir.Attr(_, of, method), _, _)):
            return -int(method.endswith("_") and _is_part_of(of, name))
        case _:
            return 0


def part_made_at(expr: ir.Expr, at: int) -> ir.Subscript | ir.Call | None:
    """Return the subscript or call with an ordinal, if an expression takes a part of it or calls its methods."""
    while isinstance(expr, ir.Subscript | ir.Attr | ir.Call):
        if expr.at == at and not isinstance(expr, ir.Attr):
            return expr
        expr = expr.func if isinstance(expr, ir.Call) else expr.value
    return None


def _is_part_of(expr: ir.Expr, name: str) -> bool:
    while isinstance(expr, ir.Subscript | ir.Attr | ir.Call):
        expr = expr.func if isinstance(expr, ir.Call) else expr.value
    return isinstance(expr, ir.Name) and expr.id == name
