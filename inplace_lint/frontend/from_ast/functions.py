"""Lowers function definitions and lambdas of `ast`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_lint.frontend import builders
from inplace_lint.frontend.from_ast import expressions, statements
from inplace_lint.frontend.numbering import Tally
from inplace_lint.ir import nodes as ir


def of_definition(tally: Tally, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ir.FunctionDef:
    """Give the IR of a `def`, its decorators first."""
    at = tally.at(node)
    decorators = expressions.each(tally, node.decorator_list)
    params = tuple(_parameters(tally, node.args))
    returns = expressions.optional(tally, node.returns)
    qualname = tally.qualname(node.name)
    tally.names.extend((node.name, "<locals>"))
    body = statements.block(tally, node.body)
    del tally.names[-2:]
    function = builders.function(tally, at, qualname, params, body, is_async=isinstance(node, ast.AsyncFunctionDef))
    return ir.FunctionDef(at, node.name, function, decorators, returns)


def of_lambda(tally: Tally, node: ast.Lambda) -> ir.Function:
    """Give the function that a lambda makes: its body is one `Return`."""
    params = tuple(_parameters(tally, node.args))
    at = tally.at(node.body)
    body = (ir.Return(at, expressions.expression(tally, node.body)),)
    return builders.function(tally, at, tally.qualname("<lambda>"), params, body, is_async=False)


def _parameters(tally: Tally, node: ast.arguments) -> Iterator[ir.Param]:
    """List the parameters in the order of the signature."""
    first = len(node.posonlyargs)
    plain = (*node.posonlyargs, *node.args)
    defaults = (*[None] * (len(plain) - len(node.defaults)), *node.defaults)
    for position, (param, default) in enumerate(zip(plain, defaults, strict=True)):
        yield _parameter(tally, param, "positional-only" if position < first else "plain", default)
    if node.vararg is not None:
        yield _parameter(tally, node.vararg, "var-positional", None)
    for param, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        yield _parameter(tally, param, "keyword-only", default)
    if node.kwarg is not None:
        yield _parameter(tally, node.kwarg, "var-keyword", None)


def _parameter(tally: Tally, node: ast.arg, kind: str, default: ast.expr | None) -> ir.Param:
    at = tally.at(node)
    annotation = expressions.optional(tally, node.annotation)
    return ir.Param(at, node.arg, kind, expressions.optional(tally, default), annotation)
