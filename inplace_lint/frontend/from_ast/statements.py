"""Lowers statements of `ast`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from inplace_lint.frontend.from_ast import functions, patterns
from inplace_lint.frontend.from_ast.expressions import each, expression, keyword, optional, unknown
from inplace_lint.frontend.from_ast.operators import OPERATORS
from inplace_lint.frontend.numbering import Tally
from inplace_lint.ir import nodes as ir

Stmts = tuple[ir.Stmt, ...]


def block(tally: Tally, nodes: Sequence[ast.stmt]) -> Stmts:
    """Give the statements of a block."""
    found: list[ir.Stmt] = []
    for node in nodes:
        lowering = _STATEMENTS.get(type(node))
        if lowering is None:
            found.append(unknown(tally, node))
        else:
            found.extend(lowering(tally, node))
    return tuple(found)


def _expr(tally: Tally, node: ast.Expr) -> Stmts:
    return (ir.ExprStmt(tally.at(node), expression(tally, node.value)),)


def _assign(tally: Tally, node: ast.Assign) -> Stmts:
    at = tally.at(node)
    targets = each(tally, node.targets)
    return (ir.Assign(at, targets, expression(tally, node.value)),)


def _annotated(tally: Tally, node: ast.AnnAssign) -> Stmts:
    at = tally.at(node)
    target = expression(tally, node.target)
    annotation = expression(tally, node.annotation)
    return (ir.Declare(at, target, annotation, optional(tally, node.value)),)


def _augmented(tally: Tally, node: ast.AugAssign) -> Stmts:
    at = tally.at(node)
    target = expression(tally, node.target)
    return (ir.AugAssign(at, OPERATORS[type(node.op)], target, expression(tally, node.value)),)


def _delete(tally: Tally, node: ast.Delete) -> Stmts:
    at = tally.at(node)
    match node.targets:
        case [ast.Tuple(elts=inner)]:
            return (ir.Delete(at, each(tally, inner)),)
        case targets:
            return (ir.Delete(at, each(tally, targets)),)


def _if(tally: Tally, node: ast.If) -> Stmts:
    """Lower a chain of `elif` without recursing into it: chains can be long."""
    links: list[tuple[int, ir.Expr, Stmts]] = []
    rest: Sequence[ast.stmt] = [node]
    while len(rest) == 1 and isinstance(link := rest[0], ast.If):
        at = tally.at(link)
        links.append((at, expression(tally, link.test), block(tally, link.body)))
        rest = link.orelse
    orelse = block(tally, rest)
    for at, test, body in reversed(links):
        orelse = (ir.If(at, test, body, orelse),)
    return orelse


def _for(tally: Tally, node: ast.For | ast.AsyncFor) -> Stmts:
    at = tally.at(node)
    target = expression(tally, node.target)
    iterable = expression(tally, node.iter)
    return (ir.For(at, target, iterable, block(tally, node.body), block(tally, node.orelse)),)


def _while(tally: Tally, node: ast.While) -> Stmts:
    at = tally.at(node)
    test = expression(tally, node.test)
    return (ir.While(at, test, block(tally, node.body), block(tally, node.orelse)),)


def _with(tally: Tally, node: ast.With | ast.AsyncWith) -> Stmts:
    at = tally.at(node)
    items = [
        ir.WithItem(expression(tally, item.context_expr), optional(tally, item.optional_vars)) for item in node.items
    ]
    return (ir.With(at, tuple(items), block(tally, node.body)),)


def _try(tally: Tally, node: Any) -> Stmts:  # noqa: ANN401 - `try`, and `try` with `except*` of Python 3.11
    at = tally.at(node)
    body = block(tally, node.body)
    handlers = [
        ir.Handler(optional(tally, handler.type), handler.name, block(tally, handler.body)) for handler in node.handlers
    ]
    return (ir.Try(at, body, tuple(handlers), block(tally, node.orelse), block(tally, node.finalbody)),)


def _return(tally: Tally, node: ast.Return) -> Stmts:
    return (ir.Return(tally.at(node), optional(tally, node.value)),)


def _raise(tally: Tally, node: ast.Raise) -> Stmts:
    return (ir.Raise(tally.at(node), optional(tally, node.exc)),)


def _assert(tally: Tally, node: ast.Assert) -> Stmts:
    return (ir.Assert(tally.at(node), expression(tally, node.test)),)


def _jump(_tally: Tally, node: ast.Pass | ast.Break | ast.Continue) -> Stmts:
    return (ir.Jump(type(node).__name__.lower()),)


def _scope(_tally: Tally, node: ast.Global | ast.Nonlocal) -> Stmts:
    return (ir.Scope(type(node).__name__.lower(), tuple(node.names)),)


def _import(tally: Tally, node: ast.Import) -> Stmts:
    at = tally.at(node)
    return tuple([ir.ImportName(at, alias.name, alias.asname) for alias in node.names])


def _import_from(tally: Tally, node: ast.ImportFrom) -> Stmts:
    names = tuple([(alias.name, alias.asname) for alias in node.names])
    return (ir.ImportFrom(tally.at(node), node.module or "", node.level, names),)


def _function(tally: Tally, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Stmts:
    return (functions.of_definition(tally, node),)


def _class(tally: Tally, node: ast.ClassDef) -> Stmts:
    at = tally.at(node)
    decorators = each(tally, node.decorator_list)
    bases = each(tally, [base.value if isinstance(base, ast.Starred) else base for base in node.bases])
    keywords = tuple([keyword(tally, one) for one in node.keywords])
    tally.names.append(node.name)
    body = block(tally, node.body)
    tally.names.pop()
    return (ir.ClassDef(at, node.name, bases, keywords, body, decorators),)


def _match(tally: Tally, node: ast.Match) -> Stmts:
    at = tally.at(node)
    subject = expression(tally, node.subject)
    name = f"match@{at}"
    cases: list[ir.Case] = []
    for case in node.cases:
        test, binds = patterns.pattern(tally, case.pattern, name)
        guard = optional(tally, case.guard)
        cases.append(ir.Case(test, binds, guard, block(tally, case.body)))
    return (ir.Match(at, subject, name, tuple(cases)),)


def _type_alias(tally: Tally, node: Any) -> Stmts:  # noqa: ANN401 - `type X = …` of Python 3.12
    return (ir.Unknown(tally.at(node), "TypeAlias", (), (node.name.id,)),)


_STATEMENTS: dict[type[ast.AST], Callable[[Tally, Any], Stmts]] = {
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
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = _try
if hasattr(ast, "TypeAlias"):
    _STATEMENTS[ast.TypeAlias] = _type_alias
