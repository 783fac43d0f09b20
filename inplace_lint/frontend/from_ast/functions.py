"""Lowers function definitions and lambdas."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_lint.core.annotations import written
from inplace_lint.frontend.from_ast import expressions, statements
from inplace_lint.frontend.numbering import Numbering
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import scope_of


def of_definition(numbering: Numbering, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ir.FunctionDef:
    """Return the IR of a `def`, its decorators first."""
    at = numbering.at(node)
    decorators = expressions.each(numbering, node.decorator_list)
    params = tuple(_parameters(numbering, node.args))
    returns = expressions.optional(numbering, node.returns)
    qualname = numbering.qualname(node.name)
    numbering.names.extend((node.name, "<locals>"))
    body = statements.block(numbering, node.body)
    del numbering.names[-2:]
    function = _function(numbering, at, qualname, params, body, is_async=isinstance(node, ast.AsyncFunctionDef))
    return ir.FunctionDef(at, node.name, function, decorators, returns)


def of_lambda(numbering: Numbering, node: ast.Lambda) -> ir.Function:
    """Return the function of a lambda: its body is one `Return`."""
    params = tuple(_parameters(numbering, node.args))
    at = numbering.at(node.body)
    body = (ir.Return(at, expressions.expression(numbering, node.body)),)
    return _function(numbering, at, numbering.qualname("<lambda>"), params, body, is_async=False)


def _function(
    numbering: Numbering,
    at: int,
    qualname: str,
    params: tuple[ir.Param, ...],
    body: tuple[ir.Stmt, ...],
    *,
    is_async: bool,
) -> ir.Function:
    local, yields = scope_of(body)
    return ir.Function(
        qualname=qualname,
        params=params,
        body=body,
        slice=numbering.slice,
        sha=f"{numbering.digest}:{at}",
        local=local | {param.name for param in params},
        is_async=is_async,
        is_generator=yields,
    )


def _parameters(numbering: Numbering, node: ast.arguments) -> Iterator[ir.Param]:
    """Yield the parameters in the order of the signature."""
    first = len(node.posonlyargs)
    plain = (*node.posonlyargs, *node.args)
    defaults = (*[None] * (len(plain) - len(node.defaults)), *node.defaults)
    for position, (param, default) in enumerate(zip(plain, defaults, strict=True)):
        yield _parameter(numbering, param, "positional-only" if position < first else "plain", default)
    if node.vararg is not None:
        yield _parameter(numbering, node.vararg, "var-positional", None)
    for param, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        yield _parameter(numbering, param, "keyword-only", default)
    if node.kwarg is not None:
        yield _parameter(numbering, node.kwarg, "var-keyword", None)


def _parameter(numbering: Numbering, node: ast.arg, kind: str, default: ast.expr | None) -> ir.Param:
    at = numbering.at(node)
    annotation = expressions.optional(numbering, written(node.annotation))
    return ir.Param(at, node.arg, kind, expressions.optional(numbering, default), annotation)
