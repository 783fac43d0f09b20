"""Decorators: some enter a mode, some change how a method is bound; all others keep the function."""

from __future__ import annotations

from dataclasses import replace

from inplace_lint.domain.state import State
from inplace_lint.domain.values import Closure, Value
from inplace_lint.interp import contexts, expressions
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.program import Program
from inplace_lint.ir import nodes as ir

_WRAPPERS = {"staticmethod": "static", "classmethod": "class", "property": "property", "cached_property": "property"}


def spells(decorator: ir.Expr, name: str) -> bool:
    """Say whether a decorator is spelled with this last name, called or not."""
    match decorator:
        case ir.Call(_, func, _, _):
            return spells(func, name)
        case ir.Attr(_, _, last):
            return last == name
        case ir.Name(_, last):
            return last == name
        case _:
            return False


def apply(
    program: Program, frame: Frame, state: State, decorators: tuple[ir.Expr, ...], closure: Closure
) -> list[tuple[State, Value]]:
    """Give a decorated function: an unknown decorator is taken to keep it."""
    # IMPRECISE: a decorator of the program or of an unknown library is taken to call the function unchanged.
    for decorator in reversed(decorators):
        wrapper = next((kind for name, kind in _WRAPPERS.items() if spells(decorator, name)), None)
        if wrapper is not None:
            closure = replace(closure, wrapper=wrapper)
            continue
        if isinstance(decorator, ir.Attr) and decorator.name in {"setter", "deleter"}:
            closure = replace(closure, wrapper="property")
            continue
        for after, value in expressions.evaluate(program, frame, state, decorator)[:1]:
            if after is not state:
                state.become(after)
            mode = contexts.mode_of(program, state, value)
            if mode is not None:
                closure = replace(closure, modes=(mode, *closure.modes))
    return [(state, closure)]
