"""Lowers statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from inplace_lint.frontend.from_cst import functions, patterns
from inplace_lint.frontend.from_cst.expressions import expression, unknown
from inplace_lint.frontend.from_cst.scopes import dotted
from inplace_lint.frontend.numbering import Tally
from inplace_lint.ir import nodes as ir

Stmts = tuple[ir.Stmt, ...]

_AUGMENTED: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.MatrixMultiplyAssign: "@",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
}


def block(tally: Tally, node: cst.CSTNode) -> Stmts:
    """Give the statements of a block, of a line of small statements, or of one statement."""
    if isinstance(node, cst.IndentedBlock):
        return tuple(statement for inner in node.body for statement in block(tally, inner))
    if isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite):
        return tuple(statement for inner in node.body for statement in _statement(tally, inner))
    return _statement(tally, node)


def _statement(tally: Tally, node: cst.CSTNode) -> Stmts:
    lowering = _STATEMENTS.get(type(node))
    return (unknown(tally, node),) if lowering is None else lowering(tally, node)


def _expr(tally: Tally, node: cst.Expr) -> Stmts:
    return (ir.ExprStmt(tally.at(node), expression(tally, node.value)),)


def _assign(tally: Tally, node: cst.Assign) -> Stmts:
    at = tally.at(node)
    targets = tuple(expression(tally, target.target) for target in node.targets)
    return (ir.Assign(at, targets, expression(tally, node.value)),)


def _annotated(tally: Tally, node: cst.AnnAssign) -> Stmts:
    at = tally.at(node)
    target = expression(tally, node.target)
    annotation = expression(tally, node.annotation.annotation)
    return (ir.Declare(at, target, annotation, None if node.value is None else expression(tally, node.value)),)


def _augmented(tally: Tally, node: cst.AugAssign) -> Stmts:
    at = tally.at(node)
    target = expression(tally, node.target)
    return (ir.AugAssign(at, _AUGMENTED[type(node.operator)], target, expression(tally, node.value)),)


def _delete(tally: Tally, node: cst.Del) -> Stmts:
    at = tally.at(node)
    target = node.target
    nodes = [element.value for element in target.elements] if isinstance(target, cst.Tuple) else [target]
    return (ir.Delete(at, tuple(expression(tally, inner) for inner in nodes)),)


def _if(tally: Tally, node: cst.If) -> Stmts:
    """Lower a chain of `elif` without recursing into it: chains can be long."""
    links: list[tuple[int, ir.Expr, Stmts]] = []
    rest: cst.If | cst.Else | None = node
    while isinstance(rest, cst.If):
        at = tally.at(rest)
        links.append((at, expression(tally, rest.test), block(tally, rest.body)))
        rest = rest.orelse
    orelse: Stmts = block(tally, rest.body) if rest is not None else ()
    for at, test, body in reversed(links):
        orelse = (ir.If(at, test, body, orelse),)
    return orelse


def _else(tally: Tally, node: cst.Else | None) -> Stmts:
    return () if node is None else block(tally, node.body)


def _for(tally: Tally, node: cst.For) -> Stmts:
    at = tally.at(node)
    target = expression(tally, node.target)
    iterable = expression(tally, node.iter)
    return (ir.For(at, target, iterable, block(tally, node.body), _else(tally, node.orelse)),)


def _while(tally: Tally, node: cst.While) -> Stmts:
    at = tally.at(node)
    test = expression(tally, node.test)
    return (ir.While(at, test, block(tally, node.body), _else(tally, node.orelse)),)


def _with(tally: Tally, node: cst.With) -> Stmts:
    at = tally.at(node)
    items = tuple(
        ir.WithItem(expression(tally, item.item), None if item.asname is None else expression(tally, item.asname.name))
        for item in node.items
    )
    return (ir.With(at, items, block(tally, node.body)),)


def _try(tally: Tally, node: cst.Try | cst.TryStar) -> Stmts:
    at = tally.at(node)
    body = block(tally, node.body)
    handlers = tuple(_handler(tally, handler) for handler in node.handlers)
    orelse = _else(tally, node.orelse)
    final = () if node.finalbody is None else block(tally, node.finalbody.body)
    return (ir.Try(at, body, handlers, orelse, final),)


def _handler(tally: Tally, node: cst.ExceptHandler | cst.ExceptStarHandler) -> ir.Handler:
    type_ = None if node.type is None else expression(tally, node.type)
    name = None if node.name is None else dotted(node.name.name)
    return ir.Handler(type_, name or None, block(tally, node.body))


def _return(tally: Tally, node: cst.Return) -> Stmts:
    at = tally.at(node)
    return (ir.Return(at, None if node.value is None else expression(tally, node.value)),)


def _raise(tally: Tally, node: cst.Raise) -> Stmts:
    at = tally.at(node)
    return (ir.Raise(at, None if node.exc is None else expression(tally, node.exc)),)


def _assert(tally: Tally, node: cst.Assert) -> Stmts:
    return (ir.Assert(tally.at(node), expression(tally, node.test)),)


_JUMPS: dict[type[cst.CSTNode], str] = {cst.Pass: "pass", cst.Break: "break", cst.Continue: "continue"}


def _jump(_tally: Tally, node: cst.Pass | cst.Break | cst.Continue) -> Stmts:
    return (ir.Jump(_JUMPS[type(node)]),)


def _scope(_tally: Tally, node: cst.Global | cst.Nonlocal) -> Stmts:
    kind = "global" if isinstance(node, cst.Global) else "nonlocal"
    return (ir.Scope(kind, tuple(item.name.value for item in node.names)),)


def _import(tally: Tally, node: cst.Import) -> Stmts:
    at = tally.at(node)
    return tuple(ir.ImportName(at, dotted(alias.name), _alias(alias)) for alias in node.names)


def _import_from(tally: Tally, node: cst.ImportFrom) -> Stmts:
    at = tally.at(node)
    if isinstance(node.names, cst.ImportStar):
        names: Sequence[tuple[str, str | None]] = (("*", None),)
    else:
        names = [(dotted(alias.name), _alias(alias)) for alias in node.names]
    return (ir.ImportFrom(at, dotted(node.module), len(node.relative), tuple(names)),)


def _alias(alias: cst.ImportAlias) -> str | None:
    return None if alias.asname is None else dotted(alias.asname.name)


def _function(tally: Tally, node: cst.FunctionDef) -> Stmts:
    return (functions.of_definition(tally, node),)


def _class(tally: Tally, node: cst.ClassDef) -> Stmts:
    at = tally.at(node)
    decorators = tuple(expression(tally, decorator.decorator) for decorator in node.decorators)
    bases = tuple(expression(tally, base.value) for base in node.bases)
    keywords = tuple(
        ir.Keyword(
            tally.at(keyword),
            None if keyword.keyword is None else keyword.keyword.value,
            expression(tally, keyword.value),
        )
        for keyword in node.keywords
    )
    tally.names.append(node.name.value)
    body = block(tally, node.body)
    tally.names.pop()
    return (ir.ClassDef(at, node.name.value, bases, keywords, body, decorators),)


def _match(tally: Tally, node: cst.Match) -> Stmts:
    at = tally.at(node)
    subject = expression(tally, node.subject)
    name = f"match@{at}"
    cases: list[ir.Case] = []
    for case in node.cases:
        test, binds = patterns.pattern(tally, case.pattern, name)
        guard = None if case.guard is None else expression(tally, case.guard)
        cases.append(ir.Case(test, binds, guard, block(tally, case.body)))
    return (ir.Match(at, subject, name, tuple(cases)),)


def _type_alias(tally: Tally, node: cst.TypeAlias) -> Stmts:
    at = tally.at(node)
    return (ir.Unknown(at, "TypeAlias", (), (node.name.value,)),)


_STATEMENTS: dict[type[cst.CSTNode], Callable[[Tally, Any], Stmts]] = {
    cst.Expr: _expr,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Del: _delete,
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Assert: _assert,
    cst.Pass: _jump,
    cst.Break: _jump,
    cst.Continue: _jump,
    cst.Global: _scope,
    cst.Nonlocal: _scope,
    cst.Import: _import,
    cst.ImportFrom: _import_from,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Match: _match,
    cst.TypeAlias: _type_alias,
}
