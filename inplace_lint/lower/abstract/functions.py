"""Lowers function definitions and lambdas of `ast`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import scope_of
from inplace_lint.lower.abstract import expressions, statements
from inplace_lint.lower.tally import Tally


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
    local, yields = scope_of(body)
    function = ir.Function(
        qualname=qualname,
        params=params,
        body=body,
        slice=tally.slice,
        sha=f"{tally.digest}:{at}",
        local=local | {param.name for param in params},
        is_async=isinstance(node, ast.AsyncFunctionDef),
        is_generator=yields,
    )
    return ir.FunctionDef(at, node.name, function, decorators, returns)


def of_lambda(tally: Tally, node: ast.Lambda) -> ir.Function:
    """Give the function that a lambda makes: its body is one `Return`."""
    params = tuple(_parameters(tally, node.args))
    at = tally.at(node.body)
    body = (ir.Return(at, expressions.expression(tally, node.body)),)
    local, yields = scope_of(body)
    return ir.Function(
        qualname=tally.qualname("<lambda>"),
        params=params,
        body=body,
        slice=tally.slice,
        sha=f"{tally.digest}:{at}",
        local=local | {param.name for param in params},
        is_async=False,
        is_generator=yields,
    )


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
