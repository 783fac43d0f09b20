"""Lowers expressions of `ast`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from inplace_lint.frontend.from_ast import functions
from inplace_lint.frontend.from_ast.operators import OPERATORS
from inplace_lint.frontend.from_ast.scopes import names_in
from inplace_lint.frontend.numbering import Tally
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


def expression(tally: Tally, node: ast.AST) -> ir.Expr:
    """Give the IR of an expression; what is not modelled becomes an `Unknown`."""
    lowering = _EXPRESSIONS.get(type(node))
    return unknown(tally, node) if lowering is None else lowering(tally, node)


def optional(tally: Tally, node: ast.AST | None) -> ir.Expr | None:
    """Give the IR of an expression that may be left out."""
    return None if node is None else expression(tally, node)


def each(tally: Tally, nodes: Sequence[ast.AST]) -> tuple[ir.Expr, ...]:
    """Give the IR of expressions in their order."""
    return tuple([expression(tally, node) for node in nodes])


def unknown(tally: Tally, node: ast.AST) -> ir.Unknown:
    """Give an `Unknown` for a node, with the names in it."""
    reads, writes = names_in(node)
    return ir.Unknown(tally.at(node), type(node).__name__, reads, writes)


def _name(tally: Tally, node: ast.Name) -> ir.Expr:
    return ir.Const(value=True) if node.id == "__debug__" else ir.Name(tally.at(node), node.id)


def _constant(_tally: Tally, node: ast.Constant) -> ir.Expr:
    return ir.Const(node.value)


def _format(tally: Tally, node: Any) -> ir.Expr:  # noqa: ANN401 - f-strings, and t-strings of newer Pythons
    at = tally.at(node)
    parts: list[ir.Expr] = []
    template = ""
    plain = isinstance(node, ast.JoinedStr)
    for part in node.values:
        if isinstance(part, ast.Constant):
            template += str(part.value).replace("{", "{{").replace("}", "}}")
            continue
        parts.append(expression(tally, part.value))
        texts = [] if part.format_spec is None else part.format_spec.values
        plain = plain and part.conversion == -1 and all(isinstance(text, ast.Constant) for text in texts)
        template += "{:" + "".join(str(text.value) for text in texts) + "}" if texts and plain else "{}"
    return ir.Format(at, tuple(parts), template if plain else "")


def _attribute(tally: Tally, node: ast.Attribute) -> ir.Expr:
    return ir.Attr(tally.at(node), expression(tally, node.value), node.attr)


def _subscript(tally: Tally, node: ast.Subscript) -> ir.Expr:
    return ir.Subscript(tally.at(node), expression(tally, node.value), expression(tally, node.slice))


def _slice(tally: Tally, node: ast.Slice) -> ir.Expr:
    return ir.SliceExpr(optional(tally, node.lower), optional(tally, node.upper), optional(tally, node.step))


def _call(tally: Tally, node: ast.Call) -> ir.Expr:
    at = tally.at(node)
    func = expression(tally, node.func)
    if not node.keywords:
        return ir.Call(at, func, each(tally, node.args), ())
    args: list[ir.Expr] = []
    keywords: list[ir.Keyword] = []
    for argument in in_source_order(node.args, node.keywords):
        if isinstance(argument, ast.keyword):
            keywords.append(keyword(tally, argument))
        else:
            args.append(expression(tally, argument))
    return ir.Call(at, func, tuple(args), tuple(keywords))


def in_source_order(args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Sequence[ast.expr | ast.keyword]:
    """Give arguments as they stand in the text: a starred one may follow a keyword."""
    found: list[ast.expr | ast.keyword] = [*args, *keywords]
    if args and isinstance(args[-1], ast.Starred):
        found.sort(key=lambda argument: (argument.lineno, argument.col_offset))
    return found


def keyword(tally: Tally, node: ast.keyword) -> ir.Keyword:
    """Give a keyword argument."""
    return ir.Keyword(tally.at(node), node.arg, expression(tally, node.value))


def _unary(tally: Tally, node: ast.UnaryOp) -> ir.Expr:
    at = tally.at(node)
    op = _UNARY[type(node.op)]
    operand = expression(tally, node.operand)
    if op == "-" and isinstance(operand, ir.Const) and type(operand.value) in {int, float}:
        return ir.Const(-operand.value)  # type: ignore[operator]
    return ir.Unary(at, op, operand)


def _binary(tally: Tally, node: ast.BinOp) -> ir.Expr:
    at = tally.at(node)
    return ir.Binary(at, OPERATORS[type(node.op)], expression(tally, node.left), expression(tally, node.right))


def _boolean(tally: Tally, node: ast.BoolOp) -> ir.Expr:
    at = tally.at(node)
    return ir.BoolOp(at, "and" if isinstance(node.op, ast.And) else "or", each(tally, node.values))


def _comparison(tally: Tally, node: ast.Compare) -> ir.Expr:
    at = tally.at(node)
    left = expression(tally, node.left)
    return ir.Compare(at, left, tuple([_COMPARE[type(op)] for op in node.ops]), each(tally, node.comparators))


def _if(tally: Tally, node: ast.IfExp) -> ir.Expr:
    at = tally.at(node)
    test = expression(tally, node.test)
    return ir.IfExp(at, test, expression(tally, node.body), expression(tally, node.orelse))


def _list(tally: Tally, node: ast.List) -> ir.Expr:
    return ir.Sequence(tally.at(node), "list", each(tally, node.elts))


def _tuple(tally: Tally, node: ast.Tuple) -> ir.Expr:
    return ir.Sequence(tally.at(node), "tuple", each(tally, node.elts))


def _set(tally: Tally, node: ast.Set) -> ir.Expr:
    return ir.Sequence(tally.at(node), "set", each(tally, node.elts))


def _dict(tally: Tally, node: ast.Dict) -> ir.Expr:
    at = tally.at(node)
    items = zip(node.keys, node.values, strict=True)
    return ir.DictDisplay(at, tuple([(optional(tally, key), expression(tally, value)) for key, value in items]))


_COMPREHENSIONS: dict[type[ast.AST], str] = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}


def _comprehension(tally: Tally, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ir.Expr:
    at = tally.at(node)
    element = expression(tally, node.elt)
    return ir.Comprehension(at, _COMPREHENSIONS[type(node)], None, element, _clauses(tally, node.generators))


def _dict_comprehension(tally: Tally, node: ast.DictComp) -> ir.Expr:
    at = tally.at(node)
    key = expression(tally, node.key)
    value = expression(tally, node.value)
    return ir.Comprehension(at, "dict", key, value, _clauses(tally, node.generators))


def _clauses(tally: Tally, clauses: Sequence[ast.comprehension]) -> tuple[ir.Clause, ...]:
    return tuple(
        [
            ir.Clause(expression(tally, clause.target), expression(tally, clause.iter), each(tally, clause.ifs))
            for clause in clauses
        ]
    )


def _lambda(tally: Tally, node: ast.Lambda) -> ir.Expr:
    return ir.Lambda(tally.at(node), functions.of_lambda(tally, node))


def _named(tally: Tally, node: ast.NamedExpr) -> ir.Expr:
    at = tally.at(node)
    return ir.NamedExpr(at, expression(tally, node.target), expression(tally, node.value))


def _await(tally: Tally, node: ast.Await) -> ir.Expr:
    return expression(tally, node.value)


def _yield(tally: Tally, node: ast.Yield) -> ir.Expr:
    return ir.Yield(tally.at(node), optional(tally, node.value), delegates=False)


def _yield_from(tally: Tally, node: ast.YieldFrom) -> ir.Expr:
    return ir.Yield(tally.at(node), expression(tally, node.value), delegates=True)


def _starred(tally: Tally, node: ast.Starred) -> ir.Expr:
    return ir.Starred(expression(tally, node.value))


_EXPRESSIONS: dict[type[ast.AST], Callable[[Tally, Any], ir.Expr]] = {
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
    ast.YieldFrom: _yield_from,
    ast.Starred: _starred,
}
if hasattr(ast, "TemplateStr"):
    _EXPRESSIONS[ast.TemplateStr] = _format
