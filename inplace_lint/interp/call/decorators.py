"""
Decorators of functions and classes.

Those that enter a mode (`@torch.no_grad()`) or change how a method is bound (`@property`) become a part of the closure.
Those that the program defines are called. Those of unknown libraries are taken to keep the function as it is.
"""

from __future__ import annotations

from inplace_lint.core.records import replace
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, ClassValue, Closure, Dotted, Partial, Value
from inplace_lint.effects.summary import PROPERTY_PARTS
from inplace_lint.interp.control import modes
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import operators
from inplace_lint.interp.outcome import taken
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.spelling import spells

_WAYS = 2  # of a decorator that are followed
_CACHES = ("lru_cache", "cache")
_WRAPPERS = {"staticmethod": "static", "classmethod": "class", "property": "property", "cached_property": "property"}


def member(node: ir.FunctionDef) -> str:
    """Return the name under which a class stores a function; `name.setter` for the setter of a property."""
    parts = (decorator.name for decorator in node.decorators if isinstance(decorator, ir.Attr))
    return next((f"{node.name}.{part}" for part in parts if part in PROPERTY_PARTS), node.name)


def apply(
    interp: Interpreter, frame: Frame, state: State, decorators: tuple[ir.Expr, ...], closure: Closure
) -> list[tuple[State, Value]]:
    """Apply the decorators of a function, the innermost first."""
    # IMPRECISE: a decorator of an unknown library is assumed to call the function unchanged.
    made: Value | None = None
    for decorator in reversed(decorators):
        wrapper = next((kind for name, kind in _WRAPPERS.items() if spells(decorator, name)), None)
        if wrapper is not None:
            closure = replace(closure, wrapper=wrapper)
            continue
        if isinstance(decorator, ir.Attr) and decorator.name in PROPERTY_PARTS:
            closure = replace(closure, wrapper="property")
            continue
        if closure.function.is_generator and spells(decorator, "contextmanager"):
            closure = replace(closure, manages=True)
            continue
        value = taken(state, interp.evaluate(frame, state, decorator)) or NONE
        if any(spells(decorator, name) for name in _CACHES) and not _is_of_program(value):
            closure = replace(closure, caches=True)
            made = replace(made, caches=True) if isinstance(made, Closure) else made
            continue
        mode = modes.mode_of(interp, state, value)
        if mode is not None and isinstance(made, Closure):
            made = replace(made, modes=(mode, *made.modes))
        elif mode is not None:
            closure = replace(closure, modes=(mode, *closure.modes))
        elif _is_of_program(value) or operators.registers(interp, value):
            made = _decorated(interp, frame, state, value, made or closure) or made
    return [(state, made or closure)]


def run_on_class(
    interp: Interpreter, frame: Frame, state: State, decorators: tuple[ir.Expr, ...], cls: ClassValue
) -> None:
    """Run the program's decorators of a class for their side effects, such as an entry in a registry."""
    # IMPRECISE: a decorator is assumed to return the class that it is applied to.
    for decorator in reversed(decorators):
        value = taken(state, interp.evaluate(frame, state, decorator)) or NONE
        if _is_of_program(value):
            _decorated(interp, frame, state, value, cls)


def _is_of_program(value: Value) -> bool:
    return isinstance(value, Closure) or (isinstance(value, Bound) and isinstance(value.function, Closure))


def _decorated(interp: Interpreter, frame: Frame, state: State, decorator: Value, thing: Value) -> Value | None:
    """
    Call a decorator on a function or class; None when the result is not known to be callable.

    Where it may return the thing itself or something else, it is there for the latter.
    """
    with interp.fuel.scope(paths=_WAYS):
        results = interp.call(frame, state, decorator, Arguments((thing,)), 0)
    results.sort(key=lambda result: result[1] == thing)
    value = taken(state, results)
    return value if isinstance(value, Closure | Bound | Partial | ClassValue | Dotted) else None
