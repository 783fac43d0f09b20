"""Lowers expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from inplace_lint.frontend.from_ast import functions
from inplace_lint.frontend.from_ast.newer import TemplateStr
from inplace_lint.frontend.from_ast.operators import OPERATORS
from inplace_lint.frontend.from_ast.scopes import names_in
from inplace_lint.frontend.numbering import Numbering
from inplace_lint.ir import nodes as ir

_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def expression(numbering: Numbering, node: ast.AST) -> ir.Expr:
    """Return the IR of an expression; what the IR does not model becomes an `Unknown`."""
    lowering = _EXPRESSIONS.get(type(node))
    return unknown(numbering, node) if lowering is None else lowering(numbering, node)


def optional(numbering: Numbering, node: ast.AST | None) -> ir.Expr | None:
    """Return the IR of an expression that may be left out."""
    return None if node is None else expression(numbering, node)


def each(numbering: Numbering, nodes: Sequence[ast.AST]) -> tuple[ir.Expr, ...]:
    """Return the IR of expressions, in their order."""
    return tuple([expression(numbering, node) for node in nodes])


def unknown(numbering: Numbering, node: ast.AST) -> ir.Unknown:
    """Return an `Unknown` for a node, with the names in it."""
    reads, writes = names_in(node)
    return ir.Unknown(numbering.at(node), type(node).__name__, reads, writes)


def _name(numbering: Numbering, node: ast.Name) -> ir.Expr:
    return ir.Const(value=True) if node.id == "__debug__" else ir.Name(numbering.at(node), node.id)


def _constant(_numbering: Numbering, node: ast.Constant) -> ir.Expr:
    return ir.Const(node.value)


def _format(numbering: Numbering, node: Any) -> ir.Expr:  # noqa: ANN401 - an f-string or a t-string
    at = numbering.at(node)
    parts: list[ir.Expr] = []
    template = ""
    plain = isinstance(node, ast.JoinedStr)
    for part in node.values:
        if isinstance(part, ast.Constant):
            template += str(part.value).replace("{", "{{").replace("}", "}}")
            continue
        parts.append(expression(numbering, part.value))
        texts = [] if part.format_spec is None else part.format_spec.values
        plain = plain and part.conversion == -1 and all(isinstance(text, ast.Constant) for text in texts)
        template += "{:" + "".join(str(text.value) for text in texts) + "}" if texts and plain else "{}"
    return ir.Format(at, tuple(parts), template if plain else "")


def _attribute(numbering: Numbering, node: ast.Attribute) -> ir.Expr:
    return ir.Attr(numbering.at(node), expression(numbering, node.value), node.attr)


def _subscript(numbering: Numbering, node: ast.Subscript) -> ir.Expr:
    return ir.Subscript(numbering.at(node), expression(numbering, node.value), expression(numbering, node.slice))


def _slice(numbering: Numbering, node: ast.Slice) -> ir.Expr:
    return ir.SliceExpr(
        optional(numbering, node.lower), optional(numbering, node.upper), optional(numbering, node.step)
    )


def _call(numbering: Numbering, node: ast.Call) -> ir.Expr:
    at = numbering.at(node)
    func = expression(numbering, node.func)
    if not node.keywords:
        return ir.Call(at, func, each(numbering, node.args), ())
    args: list[ir.Expr] = []
    keywords: list[ir.Keyword] = []
    for argument in in_source_order(node.args, node.keywords):
        if isinstance(argument, ast.keyword):
            keywords.append(keyword(numbering, argument))
        else:
            args.append(expression(numbering, argument))
    return ir.Call(at, func, tuple(args), tuple(keywords))


def in_source_order(args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Sequence[ast.expr | ast.keyword]:
    """Return arguments in the order of the text, where a starred one may follow a keyword."""
    found: list[ast.expr | ast.keyword] = [*args, *keywords]
    if args and isinstance(args[-1], ast.Starred):
        found.sort(key=lambda argument: (argument.lineno, argument.col_offset))
    return found


def keyword(numbering: Numbering, node: ast.keyword) -> ir.Keyword:
    """Return the IR of a keyword argument."""
    return ir.Keyword(numbering.at(node), node.arg, expression(numbering, node.value))


def _unary(numbering: Numbering, node: ast.UnaryOp) -> ir.Expr:
    at = numbering.at(node)
    op = _UNARY[type(node.op)]
    operand = expression(numbering, node.operand)
    if op == "-" and isinstance(operand, ir.Const) and type(operand.value) in {int, float}:
        return ir.Const(-operand.value)  # type: ignore[operator]
    return ir.Unary(at, op, operand)


def _binary(numbering: Numbering, node: ast.BinOp) -> ir.Expr:
    at = numbering.at(node)
    return ir.Binary(at, OPERATORS[type(node.op)], expression(numbering, node.left), expression(numbering, node.right))


def _boolean(numbering: Numbering, node: ast.BoolOp) -> ir.Expr:
    at = numbering.at(node)
    return ir.BoolOp(at, "and" if isinstance(node.op, ast.And) else "or", each(numbering, node.values))


def _comparison(numbering: Numbering, node: ast.Compare) -> ir.Expr:
    at = numbering.at(node)
    left = expression(numbering, node.left)
    return ir.Compare(at, left, tuple([_COMPARE[type(op)] for op in node.ops]), each(numbering, node.comparators))


def _if(numbering: Numbering, node: ast.IfExp) -> ir.Expr:
    at = numbering.at(node)
    test = expression(numbering, node.test)
    return ir.IfExp(at, test, expression(numbering, node.body), expression(numbering, node.orelse))


def _list(numbering: Numbering, node: ast.List) -> ir.Expr:
    return ir.Sequence(numbering.at(node), "list", each(numbering, node.elts))


def _tuple(numbering: Numbering, node: ast.Tuple) -> ir.Expr:
    return ir.Sequence(numbering.at(node), "tuple", each(numbering, node.elts))


def _set(numbering: Numbering, node: ast.Set) -> ir.Expr:
    return ir.Sequence(numbering.at(node), "set", each(numbering, node.elts))


def _dict(numbering: Numbering, node: ast.Dict) -> ir.Expr:
    at = numbering.at(node)
    items = zip(node.keys, node.values, strict=True)
    return ir.DictDisplay(at, tuple([(optional(numbering, key), expression(numbering, value)) for key, value in items]))


_COMPREHENSIONS: dict[type[ast.AST], str] = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}


def _comprehension(numbering: Numbering, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ir.Expr:
    at = numbering.at(node)
    element = expression(numbering, node.elt)
    return ir.Comprehension(at, _COMPREHENSIONS[type(node)], None, element, _clauses(numbering, node.generators))


def _dict_comprehension(numbering: Numbering, node: ast.DictComp) -> ir.Expr:
    at = numbering.at(node)
    key = expression(numbering, node.key)
    value = expression(numbering, node.value)
    return ir.Comprehension(at, "dict", key, value, _clauses(numbering, node.generators))


def _clauses(numbering: Numbering, clauses: Sequence[ast.comprehension]) -> tuple[ir.Clause, ...]:
    return tuple(
        [
            ir.Clause(
                expression(numbering, clause.target), expression(numbering, clause.iter), each(numbering, clause.ifs)
            )
            for clause in clauses
        ]
    )


def _lambda(numbering: Numbering, node: ast.Lambda) -> ir.Expr:
    return ir.Lambda(numbering.at(node), functions.of_lambda(numbering, node))


def _named(numbering: Numbering, node: ast.NamedExpr) -> ir.Expr:
    at = numbering.at(node)
    return ir.NamedExpr(at, expression(numbering, node.target), expression(numbering, node.value))


def _await(numbering: Numbering, node: ast.Await) -> ir.Expr:
    return expression(numbering, node.value)


def _yield(numbering: Numbering, node: ast.Yield | ast.YieldFrom) -> ir.Expr:
    return ir.Yield(numbering.at(node), optional(numbering, node.value))


def _starred(numbering: Numbering, node: ast.Starred) -> ir.Expr:
    return ir.Starred(expression(numbering, node.value))


_EXPRESSIONS: dict[type[ast.AST], Callable[[Numbering, Any], ir.Expr]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.JoinedStr: _format,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Call: _call,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.IfExp: _if,
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.Lambda: _lambda,
    ast.NamedExpr: _named,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Starred: _starred,
    TemplateStr: _format,
}
