"""Lowers expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from inplace_lint.frontend.from_cst import functions
from inplace_lint.frontend.from_cst.scopes import CONSTANTS, names_in
from inplace_lint.frontend.numbering import Tally
from inplace_lint.ir import nodes as ir

BINARY: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
}
_UNARY: dict[type[cst.CSTNode], str] = {cst.Minus: "-", cst.Plus: "+", cst.BitInvert: "~", cst.Not: "not"}
_COMPARE: dict[type[cst.CSTNode], str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}
_LONG = 19
_QUOTES = frozenset("'\"")
_TRIPLES = frozenset({"'''", '"""'})


def expression(tally: Tally, node: cst.CSTNode) -> ir.Expr:
    """Give the IR of an expression; what is not modelled becomes an `Unknown`."""
    lowering = _EXPRESSIONS.get(type(node))
    return unknown(tally, node) if lowering is None else lowering(tally, node)


def unknown(tally: Tally, node: cst.CSTNode) -> ir.Unknown:
    """Give an `Unknown` for a node, with the names in it."""
    reads, writes = names_in(node)
    return ir.Unknown(tally.at(node), type(node).__name__, reads, writes)


def _name(tally: Tally, node: cst.Name) -> ir.Expr:
    if node.value in CONSTANTS:
        return ir.Const(CONSTANTS[node.value])
    return ir.Name(tally.at(node), node.value)


def _integer(_tally: Tally, node: cst.Integer) -> ir.Expr:
    # LibCST's own `evaluated_value` compiles each literal.
    text = node.value
    return ir.Const(int(text) if text.isdecimal() and text.isascii() and len(text) < _LONG else node.evaluated_value)


def _number(_tally: Tally, node: cst.Float | cst.Imaginary) -> ir.Expr:
    return ir.Const(node.evaluated_value)


def _string(tally: Tally, node: cst.SimpleString | cst.ConcatenatedString) -> ir.Expr:
    if isinstance(node, cst.SimpleString) and node.value[0] in _QUOTES and "\\" not in node.value:
        width = 3 if node.value[:3] in _TRIPLES and len(node.value) >= 6 else 1  # noqa: PLR2004 - two triple quotes
        return ir.Const(node.value[width:-width])
    value = node.evaluated_value
    return _format(tally, node) if value is None else ir.Const(value)


def _concatenated(node: cst.CSTNode) -> Sequence[Any]:
    if isinstance(node, cst.ConcatenatedString):
        return [*_concatenated(node.left), *_concatenated(node.right)]
    return [node]


def _format(tally: Tally, node: cst.CSTNode) -> ir.Expr:
    """Lower f-strings and t-strings, and strings of which one is such."""
    at = tally.at(node)
    parts: list[ir.Expr] = []
    template = ""
    plain = True
    for string in _concatenated(node):
        if isinstance(string, cst.SimpleString):
            template += str(string.evaluated_value).replace("{", "{{").replace("}", "}}")
            continue
        plain = plain and isinstance(string, cst.FormattedString)
        for part in string.parts:
            inner = getattr(part, "expression", None)
            if inner is None:
                template += _text(string, part.value)
                continue
            parts.append(expression(tally, inner))
            texts = [getattr(piece, "value", None) for piece in part.format_spec or ()]
            is_text = part.equal is None or part.format_spec is not None
            plain = plain and is_text and part.conversion is None and None not in texts
            template += "" if part.equal is None else _spelled(part)
            template += "{:" + "".join(str(text) for text in texts) + "}" if texts else "{}"
    return ir.Format(at, tuple(parts), template if plain else "")


def _text(string: Any, text: str) -> str:  # noqa: ANN401 - an f-string or a t-string
    """Give what a piece of a string stands for, its braces doubled."""
    if "\\" not in text or "r" in string.start.lower():
        return text
    quote, single = string.end, text.replace("{{", "{").replace("}}", "}")
    return str(ast.literal_eval(f"{quote}{single}{quote}")).replace("{", "{{").replace("}", "}}")


def _spelled(part: Any) -> str:  # noqa: ANN401 - a field of an f-string or a t-string
    """Give the text that `{value=}` puts before the value."""
    code = cst.Module([]).code_for_node
    return f"{code(part.whitespace_before_expression)}{code(part.expression)}{code(part.equal)}"


def _attribute(tally: Tally, node: cst.Attribute) -> ir.Expr:
    return ir.Attr(tally.at(node), expression(tally, node.value), node.attr.value)


def _subscript(tally: Tally, node: cst.Subscript) -> ir.Expr:
    at = tally.at(node)
    value = expression(tally, node.value)
    first = node.slice[0]
    if len(node.slice) == 1 and not isinstance(first.comma, cst.Comma) and not getattr(first.slice, "star", None):
        return ir.Subscript(at, value, _index(tally, first.slice))
    place = tally.at(node)
    return ir.Subscript(
        at, value, ir.Sequence(place, "tuple", tuple([_index(tally, element.slice) for element in node.slice]))
    )


def _index(tally: Tally, node: cst.BaseSlice) -> ir.Expr:
    if isinstance(node, cst.Slice):
        parts = [None if part is None else expression(tally, part) for part in (node.lower, node.upper, node.step)]
        return ir.SliceExpr(*parts)
    assert isinstance(node, cst.Index)
    inner = expression(tally, node.value)
    return ir.Starred(inner) if getattr(node, "star", None) else inner


def _call(tally: Tally, node: cst.Call) -> ir.Expr:
    at = tally.at(node)
    func = expression(tally, node.func)
    args: list[ir.Expr] = []
    keywords: list[ir.Keyword] = []
    for argument in node.args:
        if argument.keyword is not None:
            place = tally.at(argument)
            keywords.append(ir.Keyword(place, argument.keyword.value, expression(tally, argument.value)))
        elif argument.star == "**":
            place = tally.at(argument)
            keywords.append(ir.Keyword(place, None, expression(tally, argument.value)))
        elif argument.star == "*":
            args.append(ir.Starred(expression(tally, argument.value)))
        else:
            args.append(expression(tally, argument.value))
    return ir.Call(at, func, tuple(args), tuple(keywords))


def _unary(tally: Tally, node: cst.UnaryOperation) -> ir.Expr:
    at = tally.at(node)
    op = _UNARY[type(node.operator)]
    operand = expression(tally, node.expression)
    if op == "-" and isinstance(operand, ir.Const) and type(operand.value) in {int, float}:
        return ir.Const(-operand.value)  # type: ignore[operator]
    return ir.Unary(at, op, operand)


def _binary(tally: Tally, node: cst.BinaryOperation) -> ir.Expr:
    at = tally.at(node)
    return ir.Binary(at, BINARY[type(node.operator)], expression(tally, node.left), expression(tally, node.right))


def _boolean(tally: Tally, node: cst.BooleanOperation) -> ir.Expr:
    at = tally.at(node)
    values = [node.right]
    left = node.left
    while isinstance(left, cst.BooleanOperation) and type(left.operator) is type(node.operator) and not left.lpar:
        values.append(left.right)
        left = left.left
    op = "and" if isinstance(node.operator, cst.And) else "or"
    return ir.BoolOp(at, op, tuple([expression(tally, value) for value in (left, *reversed(values))]))


def _comparison(tally: Tally, node: cst.Comparison) -> ir.Expr:
    at = tally.at(node)
    left = expression(tally, node.left)
    ops = tuple(_COMPARE[type(target.operator)] for target in node.comparisons)
    return ir.Compare(at, left, ops, tuple(expression(tally, target.comparator) for target in node.comparisons))


def _if(tally: Tally, node: cst.IfExp) -> ir.Expr:
    at = tally.at(node)
    test = expression(tally, node.test)
    return ir.IfExp(at, test, expression(tally, node.body), expression(tally, node.orelse))


_KINDS: dict[type[cst.CSTNode], str] = {cst.List: "list", cst.Tuple: "tuple", cst.Set: "set"}


def _sequence(tally: Tally, node: cst.List | cst.Tuple | cst.Set) -> ir.Expr:
    at = tally.at(node)
    return ir.Sequence(at, _KINDS[type(node)], tuple(_element(tally, element) for element in node.elements))


def _element(tally: Tally, element: cst.BaseElement) -> ir.Expr:
    inner = expression(tally, element.value)
    return ir.Starred(inner) if isinstance(element, cst.StarredElement) else inner


def _dict(tally: Tally, node: cst.Dict) -> ir.Expr:
    at = tally.at(node)
    items: list[tuple[ir.Expr | None, ir.Expr]] = []
    for element in node.elements:
        key = expression(tally, element.key) if isinstance(element, cst.DictElement) else None
        items.append((key, expression(tally, element.value)))
    return ir.DictDisplay(at, tuple(items))


_COMPREHENSIONS: dict[type[cst.CSTNode], str] = {
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.GeneratorExp: "generator",
}


def _comprehension(tally: Tally, node: cst.ListComp | cst.SetComp | cst.GeneratorExp) -> ir.Expr:
    at = tally.at(node)
    element = expression(tally, node.elt)
    return ir.Comprehension(at, _COMPREHENSIONS[type(node)], None, element, _clauses(tally, node.for_in))


def _dict_comprehension(tally: Tally, node: cst.DictComp) -> ir.Expr:
    at = tally.at(node)
    key = expression(tally, node.key)
    value = expression(tally, node.value)
    return ir.Comprehension(at, "dict", key, value, _clauses(tally, node.for_in))


def _clauses(tally: Tally, node: cst.CompFor | None) -> tuple[ir.Clause, ...]:
    found: list[ir.Clause] = []
    while node is not None:
        target = expression(tally, node.target)
        iterable = expression(tally, node.iter)
        found.append(ir.Clause(target, iterable, tuple(expression(tally, test.test) for test in node.ifs)))
        node = node.inner_for_in
    return tuple(found)


def _lambda(tally: Tally, node: cst.Lambda) -> ir.Expr:
    return ir.Lambda(tally.at(node), functions.of_lambda(tally, node))


def _named(tally: Tally, node: cst.NamedExpr) -> ir.Expr:
    at = tally.at(node)
    return ir.NamedExpr(at, expression(tally, node.target), expression(tally, node.value))


def _await(tally: Tally, node: cst.Await) -> ir.Expr:
    return expression(tally, node.expression)


def _yield(tally: Tally, node: cst.Yield) -> ir.Expr:
    at = tally.at(node)
    if isinstance(node.value, cst.From):
        return ir.Yield(at, expression(tally, node.value.item), delegates=True)
    return ir.Yield(at, None if node.value is None else expression(tally, node.value), delegates=False)


def _ellipsis(_tally: Tally, _node: cst.Ellipsis) -> ir.Expr:
    return ir.Const(...)


def _starred(tally: Tally, node: cst.StarredElement) -> ir.Expr:
    return ir.Starred(expression(tally, node.value))


_EXPRESSIONS: dict[type[cst.CSTNode], Callable[[Tally, Any], ir.Expr]] = {
    cst.Name: _name,
    cst.Integer: _integer,
    cst.Float: _number,
    cst.Imaginary: _number,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _string,
    cst.FormattedString: _format,
    cst.Attribute: _attribute,
    cst.Subscript: _subscript,
    cst.Call: _call,
    cst.UnaryOperation: _unary,
    cst.BinaryOperation: _binary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.IfExp: _if,
    cst.List: _sequence,
    cst.Tuple: _sequence,
    cst.Set: _sequence,
    cst.Dict: _dict,
    cst.ListComp: _comprehension,
    cst.SetComp: _comprehension,
    cst.GeneratorExp: _comprehension,
    cst.DictComp: _dict_comprehension,
    cst.Lambda: _lambda,
    cst.NamedExpr: _named,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.Ellipsis: _ellipsis,
    cst.StarredElement: _starred,
}
if hasattr(cst, "TemplatedString"):
    _EXPRESSIONS[cst.TemplatedString] = _format
