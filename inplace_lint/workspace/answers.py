"""Digests of what is known of definitions and code; comments, docstrings and positions do not change them."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from typing import Any

from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Slice
from inplace_lint.effects.summary import Definition
from inplace_lint.ir import nodes as ir
from inplace_lint.workspace.claims import digest

_NOWHERE = Slice("", 0, 0)
_SOME = ir.Const(...)  # a default that is a constant


def of_definitions(items: Sequence[Definition], source: str) -> str:
    """Return a digest of what is known of definitions without lowering them; of statements, of their text as well."""
    return digest(repr([_form(item, source) for item in items]))


def _form(item: Definition, source: str) -> list[object]:
    slice_ = item.slice
    text = "".join(split_lines(source)[slice_.first - 1 : slice_.last]) if item.kind == "statement" else slice_.kind
    methods = [_form(method, source) for method in item.methods]
    rest = item._replace(slice=_NOWHERE, methods=())
    return [text, methods, *(sorted(field) if isinstance(field, frozenset) else field for field in rest)]


def of_code(code: ir.Code) -> str:
    """
    Return a digest of lowered code, without the positions, docstrings and source digests in it.

    Of a function, the defaults that are constants are left out: who does not use one does not depend on it.
    """
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.fast = True  # equal values give equal bytes, whether or not they are one object
    pickler.dispatch_table = _TABLE
    try:
        pickler.dump(tuple(map(_without_defaults, code.body)))
    except RecursionError:
        return digest(repr(code))
    return digest(buffer.getvalue())


def default(code: ir.Code, name: str) -> str:
    """Return the default of a parameter of the function that a slice is, as text; empty if it is no constant."""
    functions = (node.function for node in code.body if isinstance(node, ir.FunctionDef))
    params = (param for function in functions for param in function.params if param.name == name)
    return ",".join(repr(param.default.value) for param in params if isinstance(param.default, ir.Const))


def _without_defaults(node: ir.Stmt) -> ir.Stmt:
    if not isinstance(node, ir.FunctionDef):
        return node
    given = node.function.params
    params = (one._replace(default=_SOME) if isinstance(one.default, ir.Const) else one for one in given)
    return node._replace(function=node.function._replace(params=tuple(params)))


def docstring(code: ir.Code) -> str:
    """Return the docstring of the function that a slice is; empty where it has none."""
    match code.body[:1]:
        case (ir.FunctionDef(function=ir.Function(body=(ir.ExprStmt(value=ir.Const(value=str() as text)), *_))),):
            return text
        case _:
            return ""


def _without_docstring(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    match body[:1]:
        case (ir.ExprStmt(value=ir.Const(value=str())),):
            return body[1:]
        case _:
            return body


def _function(node: ir.Function) -> tuple[type[tuple[object, ...]], tuple[object, ...]]:
    body = _without_docstring(node.body)
    return tuple, ((node.qualname, node.params, body, sorted(node.local), node.is_async, node.is_generator),)


def _class(node: ir.ClassDef) -> tuple[type[tuple[object, ...]], tuple[object, ...]]:
    return tuple, ((*node[:4], _without_docstring(node.body), node.decorators),)


_TABLE: dict[type, Callable[[Any], tuple[type[tuple[object, ...]], tuple[object, ...]]]] = {
    ir.Function: _function,
    ir.ClassDef: _class,
}
