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
    """Return a digest of lowered code, without the positions, docstrings and source digests in it."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=5)
    pickler.fast = True  # equal values give equal bytes, whether or not they are one object
    pickler.dispatch_table = _TABLE
    try:
        pickler.dump(code.body)
    except RecursionError:
        return digest(repr(code))
    return digest(buffer.getvalue())


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
