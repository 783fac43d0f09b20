"""Lowers statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from inplace_lint.frontend.from_ast import expressions, functions, patterns
from inplace_lint.frontend.from_ast.newer import TryStar, TypeAlias
from inplace_lint.frontend.from_ast.operators import OPERATORS
from inplace_lint.frontend.numbering import Numbering
from inplace_lint.ir import nodes as ir

Stmts = tuple[ir.Stmt, ...]


def block(numbering: Numbering, nodes: Sequence[ast.stmt]) -> Stmts:
    """Return the IR of the statements of a block."""
    found: list[ir.Stmt] = []
    for node in nodes:
        lowering = _STATEMENTS.get(type(node))
        if lowering is None:
            found.append(expressions.unknown(numbering, node))
        else:
            found.extend(lowering(numbering, node))
    return tuple(found)


def _expr(numbering: Numbering, node: ast.Expr) -> Stmts:
    if isinstance(node.value, ast.YieldFrom):
        return _delegated(numbering, node.value)
    return (ir.ExprStmt(numbering.at(node), expressions.expression(numbering, node.value)),)


def _delegated(numbering: Numbering, node: ast.YieldFrom) -> Stmts:
    """Lower `yield from items` to a loop that yields each item."""
    at = numbering.at(node)
    item = ir.Name(at, f"yield@{at}")
    items = expressions.expression(numbering, node.value)
    return (ir.For(at, item, items, (ir.ExprStmt(at, ir.Yield(at, item)),), ()),)


def _assign(numbering: Numbering, node: ast.Assign) -> Stmts:
    at = numbering.at(node)
    targets = expressions.each(numbering, node.targets)
    value = expressions.expression(numbering, node.value)
    match targets, value:
        case (ir.Sequence() as target,), ir.Sequence():
            target, value = _grouped(target, value)
            return (ir.Assign(at, (target,), value),)
        case _:
            return (ir.Assign(at, targets, value),)


def _grouped(target: ir.Sequence, value: ir.Sequence) -> tuple[ir.Sequence, ir.Sequence]:
    """Give what is unpacked in a display to as many targets as are left for it: `(b, t), h = x.shape, n`."""
    stars = [place for place, item in enumerate(value.items) if isinstance(item, ir.Starred)]
    own = [place for place, item in enumerate(target.items) if isinstance(item, ir.Starred)]
    if len(stars) != 1 or len(own) > 1:
        return target, value
    first, last = stars[0], len(target.items) - (len(value.items) - 1 - stars[0])
    if last < first or (own and not first <= own[0] < last):
        return target, value
    group = ir.Sequence(target.at, "tuple", target.items[first:last])
    spread = [item.value if isinstance(item, ir.Starred) else item for item in value.items]
    return (
        ir.Sequence(target.at, target.kind, (*target.items[:first], group, *target.items[last:])),
        ir.Sequence(value.at, value.kind, tuple(spread)),
    )


def _annotated(numbering: Numbering, node: ast.AnnAssign) -> Stmts:
    at = numbering.at(node)
    target = expressions.expression(numbering, node.target)
    annotation = expressions.expression(numbering, node.annotation)
    return (ir.Declare(at, target, annotation, expressions.optional(numbering, node.value)),)


def _augmented(numbering: Numbering, node: ast.AugAssign) -> Stmts:
    at = numbering.at(node)
    target = expressions.expression(numbering, node.target)
    return (ir.AugAssign(at, OPERATORS[type(node.op)], target, expressions.expression(numbering, node.value)),)


def _delete(numbering: Numbering, node: ast.Delete) -> Stmts:
    at = numbering.at(node)
    match node.targets:
        case [ast.Tuple(elts=inner)]:
            return (ir.Delete(at, expressions.each(numbering, inner)),)
        case targets:
            return (ir.Delete(at, expressions.each(numbering, targets)),)


def _if(numbering: Numbering, node: ast.If) -> Stmts:
    """Lower a chain of `elif` without recursing into it: chains can be long."""
    links: list[tuple[int, ir.Expr, Stmts]] = []
    rest: Sequence[ast.stmt] = [node]
    while len(rest) == 1 and isinstance(link := rest[0], ast.If):
        at = numbering.at(link)
        links.append((at, expressions.expression(numbering, link.test), block(numbering, link.body)))
        rest = link.orelse
    orelse = block(numbering, rest)
    for at, test, body in reversed(links):
        orelse = (ir.If(at, test, body, orelse),)
    return orelse


def _for(numbering: Numbering, node: ast.For | ast.AsyncFor) -> Stmts:
    at = numbering.at(node)
    target = expressions.expression(numbering, node.target)
    iterable = expressions.expression(numbering, node.iter)
    return (ir.For(at, target, iterable, block(numbering, node.body), block(numbering, node.orelse)),)


def _while(numbering: Numbering, node: ast.While) -> Stmts:
    at = numbering.at(node)
    test = expressions.expression(numbering, node.test)
    return (ir.While(at, test, block(numbering, node.body), block(numbering, node.orelse)),)


def _with(numbering: Numbering, node: ast.With | ast.AsyncWith) -> Stmts:
    at = numbering.at(node)
    items: list[ir.WithItem] = []
    for item in node.items:
        context = expressions.expression(numbering, item.context_expr)
        items.append(ir.WithItem(context, expressions.optional(numbering, item.optional_vars)))
    return (ir.With(at, tuple(items), block(numbering, node.body)),)


def _try(numbering: Numbering, node: Any) -> Stmts:  # noqa: ANN401 - `try`, and `try` with `except*` of Python 3.11
    at = numbering.at(node)
    body = block(numbering, node.body)
    handlers: list[ir.Handler] = []
    for one in node.handlers:
        caught = expressions.optional(numbering, one.type)
        handlers.append(ir.Handler(caught, one.name, block(numbering, one.body)))
    return (ir.Try(at, body, tuple(handlers), block(numbering, node.orelse), block(numbering, node.finalbody)),)


def _return(numbering: Numbering, node: ast.Return) -> Stmts:
    return (ir.Return(numbering.at(node), expressions.optional(numbering, node.value)),)


def _raise(numbering: Numbering, node: ast.Raise) -> Stmts:
    return (ir.Raise(numbering.at(node), expressions.optional(numbering, node.exc)),)


def _assert(numbering: Numbering, node: ast.Assert) -> Stmts:
    return (ir.Assert(numbering.at(node), expressions.expression(numbering, node.test)),)


def _jump(_numbering: Numbering, node: ast.Pass | ast.Break | ast.Continue) -> Stmts:
    return (ir.Jump(type(node).__name__.lower()),)


def _scope(_numbering: Numbering, node: ast.Global | ast.Nonlocal) -> Stmts:
    return (ir.Scope(type(node).__name__.lower(), tuple(node.names)),)


def _import(numbering: Numbering, node: ast.Import) -> Stmts:
    at = numbering.at(node)
    return tuple([ir.ImportName(at, alias.name, alias.asname) for alias in node.names])


def _import_from(numbering: Numbering, node: ast.ImportFrom) -> Stmts:
    names = tuple([(alias.name, alias.asname) for alias in node.names])
    return (ir.ImportFrom(numbering.at(node), node.module or "", node.level, names),)


def _function(numbering: Numbering, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Stmts:
    return (functions.of_definition(numbering, node),)


def _class(numbering: Numbering, node: ast.ClassDef) -> Stmts:
    at = numbering.at(node)
    decorators = expressions.each(numbering, node.decorator_list)
    bases = expressions.each(numbering, [base.value if isinstance(base, ast.Starred) else base for base in node.bases])
    keywords = tuple([expressions.keyword(numbering, one) for one in node.keywords])
    numbering.names.append(node.name)
    body = block(numbering, node.body)
    numbering.names.pop()
    return (ir.ClassDef(at, node.name, bases, keywords, body, decorators),)


def _match(numbering: Numbering, node: ast.Match) -> Stmts:
    at = numbering.at(node)
    subject = expressions.expression(numbering, node.subject)
    name = f"match@{at}"
    cases: list[ir.Case] = []
    for case in node.cases:
        found = patterns.pattern(numbering, case.pattern, ir.Name(at, name))
        captures = tuple([ir.Assign(at, (ir.Name(at, captured),), value) for captured, value in found.captures])
        guard = expressions.optional(numbering, case.guard)
        cases.append(ir.Case(found.test(at), captures, guard, block(numbering, case.body)))
    return (ir.Match(at, subject, name, tuple(cases)),)


def _type_alias(numbering: Numbering, node: Any) -> Stmts:  # noqa: ANN401 - `type X = …` of Python 3.12
    return (ir.Unknown(numbering.at(node), "TypeAlias", (), (node.name.id,)),)


_STATEMENTS: dict[type[ast.AST], Callable[[Numbering, Any], Stmts]] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Pass: _jump,
    ast.Break: _jump,
    ast.Continue: _jump,
    ast.Global: _scope,
    ast.Nonlocal: _scope,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Match: _match,
    TryStar: _try,
    TypeAlias: _type_alias,
}
