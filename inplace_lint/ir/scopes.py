"""The names that a body binds, and whether it yields: what Python decides when it compiles a function."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_lint.ir import nodes as ir

_LEAVES = frozenset({ir.Name, ir.Const, ir.Lambda, ir.Function})
_BINDERS = frozenset(
    {
        ir.Assign,
        ir.Delete,
        ir.Declare,
        ir.AugAssign,
        ir.NamedExpr,
        ir.For,
        ir.WithItem,
        ir.Handler,
        ir.ImportName,
        ir.ImportFrom,
        ir.Unknown,
    }
)


def scope_of(body: tuple[ir.Stmt, ...]) -> tuple[frozenset[str], bool]:
    """Return the names that statements bind in their own scope, and whether a `yield` makes a generator of them."""
    found: set[str] = set()
    elsewhere: set[str] = set()
    yields = False
    waiting: list[object] = list(body)
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind in _LEAVES:
            continue
        if isinstance(node, ir.Scope):
            elsewhere.update(node.names)
        elif isinstance(node, ir.FunctionDef):
            found.add(node.name)
            waiting.extend(node.decorators)
        elif isinstance(node, ir.ClassDef):
            found.add(node.name)
            waiting.extend((*node.decorators, *node.bases))
        elif isinstance(node, tuple):
            yields = yields or kind is ir.Yield
            if kind in _BINDERS:
                found.update(_bindings(node))
            waiting.extend([field for field in node if isinstance(field, tuple)])
    return frozenset(found - elsewhere), yields


def _bindings(node: tuple[object, ...]) -> Iterator[str]:
    match node:
        case ir.Assign(_, targets) | ir.Delete(_, targets):
            for target in targets:
                yield from names_of(target)
        case ir.Declare(_, target, _, _) | ir.AugAssign(_, _, target, _) | ir.NamedExpr(_, target, _):
            yield from names_of(target)
        case ir.For(_, target, _, _, _):
            yield from names_of(target)
        case ir.WithItem(_, target) if target is not None:
            yield from names_of(target)
        case ir.Handler(_, str(name), _):
            yield name
        case ir.ImportName(_, module, alias):
            yield alias if alias is not None else module.partition(".")[0]
        case ir.ImportFrom(_, _, _, names):
            yield from (alias or name for name, alias in names if name != "*")
        case ir.Unknown(_, _, _, writes):
            yield from writes
        case _:
            pass


def names_of(target: ir.Expr) -> Iterator[str]:
    """Yield the names that a target binds."""
    match target:
        case ir.Name(_, name):
            yield name
        case ir.Sequence(_, _, items):
            for item in items:
                yield from names_of(item)
        case ir.Starred(value):
            yield from names_of(value)
        case _:
            pass
