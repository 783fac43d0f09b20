"""Lowers function definitions and lambdas."""

from __future__ import annotations

import libcst as cst

from inplace_lint.frontend import builders
from inplace_lint.frontend.from_cst import expressions, statements
from inplace_lint.frontend.numbering import Tally
from inplace_lint.ir import nodes as ir


def of_definition(tally: Tally, node: cst.FunctionDef) -> ir.FunctionDef:
    """Give the IR of a `def`, its decorators first."""
    at = tally.at(node)
    decorators = tuple(expressions.expression(tally, decorator.decorator) for decorator in node.decorators)
    name = node.name.value
    params = parameters(tally, node.params)
    returns = None if node.returns is None else expressions.expression(tally, node.returns.annotation)
    qualname = tally.qualname(name)
    tally.names.extend((name, "<locals>"))
    body = statements.block(tally, node.body)
    del tally.names[-2:]
    function = builders.function(tally, at, qualname, params, body, is_async=node.asynchronous is not None)
    return ir.FunctionDef(at, name, function, decorators, returns)


def of_lambda(tally: Tally, node: cst.Lambda) -> ir.Function:
    """Give the function that a lambda makes: its body is one `Return`."""
    params = parameters(tally, node.params)
    at = tally.at(node.body)
    body = (ir.Return(at, expressions.expression(tally, node.body)),)
    return builders.function(tally, at, tally.qualname("<lambda>"), params, body, is_async=False)


def parameters(tally: Tally, node: cst.Parameters) -> tuple[ir.Param, ...]:
    """Give the parameters in the order of the signature."""
    found = [_parameter(tally, param, "positional-only") for param in node.posonly_params]
    found.extend(_parameter(tally, param, "plain") for param in node.params)
    if isinstance(node.star_arg, cst.Param):
        found.append(_parameter(tally, node.star_arg, "var-positional"))
    found.extend(_parameter(tally, param, "keyword-only") for param in node.kwonly_params)
    if node.star_kwarg is not None:
        found.append(_parameter(tally, node.star_kwarg, "var-keyword"))
    return tuple(found)


def _parameter(tally: Tally, node: cst.Param, kind: str) -> ir.Param:
    at = tally.at(node)
    annotation = None if node.annotation is None else expressions.expression(tally, node.annotation.annotation)
    default = None if node.default is None else expressions.expression(tally, node.default)
    return ir.Param(at, node.name.value, kind, default, annotation)
