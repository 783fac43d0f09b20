"""Converts expressions of LibCST to `ast`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

import libcst as cst

from inplace_lint.frontend.from_ast.newer import TemplateStr

Made = TypeVar("Made", bound=ast.AST)

BINARY: Mapping[type[cst.CSTNode], type[ast.operator]] = {
    cst.Add: ast.Add,
    cst.Subtract: ast.Sub,
    cst.Multiply: ast.Mult,
    cst.Divide: ast.Div,
    cst.FloorDivide: ast.FloorDiv,
    cst.Modulo: ast.Mod,
    cst.Power: ast.Pow,
    cst.MatrixMultiply: ast.MatMult,
    cst.BitAnd: ast.BitAnd,
    cst.BitOr: ast.BitOr,
    cst.BitXor: ast.BitXor,
    cst.LeftShift: ast.LShift,
    cst.RightShift: ast.RShift,
}
_UNARY: Mapping[type[cst.CSTNode], type[ast.unaryop]] = {
    cst.Minus: ast.USub,
    cst.Plus: ast.UAdd,
    cst.BitInvert: ast.Invert,
    cst.Not: ast.Not,
}
_COMPARE: Mapping[type[cst.CSTNode], type[ast.cmpop]] = {
    cst.Equal: ast.Eq,
    cst.NotEqual: ast.NotEq,
    cst.LessThan: ast.Lt,
    cst.LessThanEqual: ast.LtE,
    cst.GreaterThan: ast.Gt,
    cst.GreaterThanEqual: ast.GtE,
    cst.Is: ast.Is,
    cst.IsNot: ast.IsNot,
    cst.In: ast.In,
    cst.NotIn: ast.NotIn,
}
CONSTANTS: Mapping[str, bool | None] = {"True": True, "False": False, "None": None}
_CONVERSIONS = {None: -1, "s": 115, "r": 114, "a": 97}
_LOAD = ast.Load()  # nothing asks whether an expression is a target: the statement says it
_LONG = 19
_QUOTES = frozenset("'\"")
_TRIPLES = frozenset({"'''", '"""'})


def marked(made: Made, node: cst.CSTNode) -> Made:
    """Record the node that an `ast` node stands for."""
    made.origin = node  # type: ignore[attr-defined]
    return made


def expression(node: cst.CSTNode) -> ast.expr:
    """Convert an expression; one of a type that is not known here becomes a set of its parts."""
    convert = _EXPRESSIONS.get(type(node))
    if convert is None:
        parts = [expression(child) for child in node.children if isinstance(child, cst.BaseExpression)]
        return marked(ast.Set(parts), node)
    made: ast.expr = convert(node)
    return marked(made, node)


def optional(node: cst.CSTNode | None) -> ast.expr | None:
    """Convert an expression that may be left out."""
    return None if node is None else expression(node)


def dotted(node: cst.CSTNode | None) -> str:
    """Return a dotted name as text; empty for anything else."""
    match node:
        case cst.Name(value=value):
            return value
        case cst.Attribute(value=value, attr=attr):
            inner = dotted(value)
            return f"{inner}.{attr.value}" if inner else ""
        case _:
            return ""


def _name(node: cst.Name) -> ast.expr:
    if node.value in CONSTANTS:
        return ast.Constant(CONSTANTS[node.value])
    return ast.Name(node.value, _LOAD)


# -- literals ----------------------------------------------------------------------------------------------------------


def _integer(node: cst.Integer) -> ast.expr:
    # LibCST's own `evaluated_value` compiles each literal.
    text = node.value
    simple = text.isdecimal() and text.isascii() and len(text) < _LONG
    return ast.Constant(int(text) if simple else node.evaluated_value)


def _string(node: cst.SimpleString | cst.ConcatenatedString) -> ast.expr:
    if isinstance(node, cst.SimpleString) and node.value[0] in _QUOTES and "\\" not in node.value:
        width = 3 if node.value[:3] in _TRIPLES and len(node.value) >= 6 else 1  # noqa: PLR2004 - two triple quotes
        return ast.Constant(node.value[width:-width])
    value = node.evaluated_value
    return _format(node) if value is None else ast.Constant(value)


def _format(node: cst.CSTNode) -> ast.expr:
    """Convert f-strings and t-strings, and concatenations with one of them."""
    strings = list(_strings(node))
    parts: list[ast.expr] = []
    for string in strings:
        if isinstance(string, cst.SimpleString):
            parts.append(ast.Constant(string.evaluated_value))
            continue
        for part in string.parts:
            parts.extend(_field(string, part))
    is_template = not all(isinstance(string, cst.SimpleString | cst.FormattedString) for string in strings)
    made: ast.expr = TemplateStr(parts) if is_template else ast.JoinedStr(parts)
    return made


def _strings(node: cst.CSTNode) -> Iterator[Any]:
    if isinstance(node, cst.ConcatenatedString):
        yield from _strings(node.left)
        yield from _strings(node.right)
    else:
        yield node


def _field(string: Any, part: Any) -> Iterator[ast.expr]:  # noqa: ANN401 - pieces of f-strings and of t-strings
    if not hasattr(part, "expression"):
        yield ast.Constant(_text(string, part.value))
        return
    conversion, spec = _CONVERSIONS[part.conversion], None
    if part.equal is not None:
        code = cst.Module([]).code_for_node
        yield ast.Constant("".join(map(code, (part.whitespace_before_expression, part.expression, part.equal))))
        if part.conversion is None and part.format_spec is None:
            conversion = _CONVERSIONS["r"]
    if part.format_spec is not None:
        spec = ast.JoinedStr([made for piece in part.format_spec for made in _field(string, piece)])
    yield ast.FormattedValue(expression(part.expression), conversion, spec)


def _text(string: Any, text: str) -> str:  # noqa: ANN401 - an f-string or a t-string
    """Return the characters that the text between two fields of a string means."""
    single = text.replace("{{", "{").replace("}}", "}")
    if "\\" not in text or "r" in string.start.lower():
        return single
    return str(ast.literal_eval(f"{string.end}{single}{string.end}"))


# -- calls and subscripts ----------------------------------------------------------------------------------------------


def _subscript(node: cst.Subscript) -> ast.expr:
    indices = [_index(element.slice) for element in node.slice]
    is_tuple = isinstance(node.slice[-1].comma, cst.Comma) or isinstance(indices[0], ast.Starred) or len(indices) > 1
    index = marked(ast.Tuple(indices, _LOAD), node) if is_tuple else indices[0]
    return ast.Subscript(expression(node.value), index, _LOAD)


def _index(node: cst.BaseSlice) -> ast.expr:
    if isinstance(node, cst.Slice):
        return ast.Slice(optional(node.lower), optional(node.upper), optional(node.step))
    assert isinstance(node, cst.Index)
    return _maybe_starred(node.value, is_starred=bool(node.star))


def _maybe_starred(value: cst.BaseExpression, *, is_starred: bool) -> ast.expr:
    made = expression(value)
    return ast.Starred(made, _LOAD) if is_starred else made


def _call(node: cst.Call) -> ast.expr:
    args: list[ast.expr] = []
    keywords: list[ast.keyword] = []
    for position, argument in enumerate(node.args):
        made: ast.expr | ast.keyword
        if argument.keyword is not None or argument.star == "**":
            made = keyword(argument)
            keywords.append(made)
        else:
            made = _maybe_starred(argument.value, is_starred=argument.star == "*")
            args.append(made)
        made.lineno, made.col_offset = position, 0  # the order in the text, which `from_ast` keeps
    return ast.Call(expression(node.func), args, keywords)


def keyword(node: cst.Arg) -> ast.keyword:
    """Convert a keyword argument, or `**value`."""
    return marked(ast.keyword(None if node.keyword is None else node.keyword.value, expression(node.value)), node)


# -- operators ---------------------------------------------------------------------------------------------------------


def _boolean(node: cst.BooleanOperation) -> ast.expr:
    values = [node.right]
    left = node.left
    while isinstance(left, cst.BooleanOperation) and type(left.operator) is type(node.operator) and not left.lpar:
        values.append(left.right)
        left = left.left
    op = ast.And() if isinstance(node.operator, cst.And) else ast.Or()
    return ast.BoolOp(op, [expression(value) for value in (left, *reversed(values))])


def _comparison(node: cst.Comparison) -> ast.expr:
    ops = [_COMPARE[type(target.operator)]() for target in node.comparisons]
    return ast.Compare(expression(node.left), ops, [expression(target.comparator) for target in node.comparisons])


# -- displays ----------------------------------------------------------------------------------------------------------


def _elements(node: cst.Tuple | cst.List | cst.Set) -> list[ast.expr]:
    return [
        _maybe_starred(element.value, is_starred=isinstance(element, cst.StarredElement)) for element in node.elements
    ]


def _dict(node: cst.Dict) -> ast.expr:
    keys = [expression(element.key) if isinstance(element, cst.DictElement) else None for element in node.elements]
    return ast.Dict(keys, [expression(element.value) for element in node.elements])


def _clauses(node: cst.CompFor | None) -> list[ast.comprehension]:
    found: list[ast.comprehension] = []
    while node is not None:
        tests = [expression(test.test) for test in node.ifs]
        found.append(ast.comprehension(expression(node.target), expression(node.iter), tests, 0))
        node = node.inner_for_in
    return found


# -- functions ---------------------------------------------------------------------------------------------------------


def parameters(node: cst.Parameters) -> ast.arguments:
    """Convert the parameters of a `def` or a lambda."""
    plain = (*node.posonly_params, *node.params)
    return ast.arguments(
        [_parameter(param) for param in node.posonly_params],
        [_parameter(param) for param in node.params],
        _parameter(node.star_arg) if isinstance(node.star_arg, cst.Param) else None,
        [_parameter(param) for param in node.kwonly_params],
        [optional(param.default) for param in node.kwonly_params],
        None if node.star_kwarg is None else _parameter(node.star_kwarg),
        [expression(param.default) for param in plain if param.default is not None],
    )


def _parameter(node: cst.Param) -> ast.arg:
    annotation = None if node.annotation is None else expression(node.annotation.annotation)
    return marked(ast.arg(node.name.value, annotation), node)


def _yield(node: cst.Yield) -> ast.expr:
    if isinstance(node.value, cst.From):
        return ast.YieldFrom(expression(node.value.item))
    return ast.Yield(optional(node.value))


_EXPRESSIONS: Mapping[type[cst.CSTNode], Callable[[Any], ast.expr]] = {
    cst.Name: _name,
    cst.Integer: _integer,
    cst.Float: lambda node: ast.Constant(node.evaluated_value),
    cst.Imaginary: lambda node: ast.Constant(node.evaluated_value),
    cst.Ellipsis: lambda _node: ast.Constant(...),
    cst.SimpleString: _string,
    cst.ConcatenatedString: _string,
    cst.FormattedString: _format,
    getattr(cst, "TemplatedString", cst.FormattedString): _format,  # LibCST 1.8.3 and later
    cst.Attribute: lambda node: ast.Attribute(expression(node.value), node.attr.value, _LOAD),
    cst.Subscript: _subscript,
    cst.Call: _call,
    cst.UnaryOperation: lambda node: ast.UnaryOp(_UNARY[type(node.operator)](), expression(node.expression)),
    cst.BinaryOperation: lambda node: ast.BinOp(
        expression(node.left), BINARY[type(node.operator)](), expression(node.right)
    ),
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.IfExp: lambda node: ast.IfExp(expression(node.test), expression(node.body), expression(node.orelse)),
    cst.List: lambda node: ast.List(_elements(node), _LOAD),
    cst.Tuple: lambda node: ast.Tuple(_elements(node), _LOAD),
    cst.Set: lambda node: ast.Set(_elements(node)),
    cst.Dict: _dict,
    cst.ListComp: lambda node: ast.ListComp(expression(node.elt), _clauses(node.for_in)),
    cst.SetComp: lambda node: ast.SetComp(expression(node.elt), _clauses(node.for_in)),
    cst.GeneratorExp: lambda node: ast.GeneratorExp(expression(node.elt), _clauses(node.for_in)),
    cst.DictComp: lambda node: ast.DictComp(expression(node.key), expression(node.value), _clauses(node.for_in)),
    cst.Lambda: lambda node: ast.Lambda(parameters(node.params), expression(node.body)),
    cst.NamedExpr: lambda node: ast.NamedExpr(cast("ast.Name", expression(node.target)), expression(node.value)),
    cst.Await: lambda node: ast.Await(expression(node.expression)),
    cst.Yield: _yield,
    cst.StarredElement: lambda node: ast.Starred(expression(node.value), _LOAD),
}
