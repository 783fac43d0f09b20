"""
Decorators of functions and classes.

Those that enter a mode (`@torch.no_grad()`) or change how a method is bound (`@property`) become a part of the closure.
Those that the program defines are called, or entered around each call where they are context managers. Those of unknown
libraries are taken to keep the function as it is, under the assumption that they leave gradients on.
"""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.domain import origins
from inplace_lint.domain.heap import DictObject, Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Bound, ClassValue, Closure, Const, Dotted, Partial, Ref, Tuple, Value
from inplace_lint.effects.summary import PROPERTY_PARTS
from inplace_lint.interp.control import documenting, modes, unknown_contexts
from inplace_lint.interp.frame import Arguments, Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import operators
from inplace_lint.interp.outcome import taken
from inplace_lint.interp.pylib import models
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.spelling import spells

_OF_BASES = "__init_subclass__"
_WAYS = 2  # of a decorator that are followed
_DISPATCHES = "singledispatchmethod"  # may run a method that is registered later
_MANAGERS = ("contextmanager", "asynccontextmanager")
_CACHES = ("lru_cache", "cache")
_CACHED_PROPERTY = "functools.cached_property"
_ENTERED = ("contextlib.ContextDecorator",)
_WRAPPERS = {"staticmethod": "static", "classmethod": "class", "property": "property", "cached_property": "cached"}


def member(node: ir.FunctionDef) -> str:
    """Return the name under which a class stores a function; `name.setter` for the setter of a property."""
    parts = (decorator.name for decorator in node.decorators if isinstance(decorator, ir.Attr))
    return next((f"{node.name}.{part}" for part in parts if part in PROPERTY_PARTS), node.name)


def apply(
    interp: Interpreter, frame: Frame, state: State, decorators: tuple[ir.Expr, ...], closure: Closure
) -> list[tuple[State, Value]]:
    """Apply the decorators of a function, the innermost first."""
    made: Value | None = None
    for decorator in reversed(decorators):
        wrapper = next((kind for name, kind in _WRAPPERS.items() if spells(decorator, name)), None)
        if wrapper is not None:
            closure = replace(closure, wrapper=wrapper)
            continue
        if isinstance(decorator, ir.Attr) and decorator.name in PROPERTY_PARTS:
            closure = replace(closure, wrapper="property")
            continue
        if spells(decorator, "abstractmethod"):
            closure = replace(closure, abstract=True)
            continue
        if closure.function.is_generator and any(spells(decorator, one) for one in _MANAGERS):
            closure = replace(closure, manages=True)
            continue
        value = taken(state, interp.evaluate(frame, state, decorator)) or NONE
        if isinstance(value, Dotted) and _canonical(interp, value.name) == _CACHED_PROPERTY:
            closure = replace(closure, wrapper="cached")
            continue
        if any(spells(decorator, name) for name in _CACHES) and not _is_of_program(interp, state, value):
            closure = replace(closure, caches=True)
            made = replace(made, caches=True) if isinstance(made, Closure) else made
            continue
        if spells(decorator, _DISPATCHES) and not _is_of_program(interp, state, value):
            return [(state, state.symbols.sym((origins.RESULT, value, closure, state.next_id), "callable"))]
        around = _around(interp, frame, state, decorator, models.meant(interp, frame, state, value), made or closure)
        if isinstance(around, Closure) and made is None:
            closure = around
        else:
            made = around
    return [(state, made or closure)]


def _canonical(interp: Interpreter, name: str) -> str:
    """Return the name of what a framework's class behaves like."""
    facts = interp.context.facts_of(name)
    return name if facts is None else facts.canonical(name)


def _around(interp: Interpreter, frame: Frame, state: State, decorator: ir.Expr, value: Value, thing: Value) -> Value:
    """Return a function with the modes and context managers of a decorator around it, or what the decorator returns."""
    mode, closure = modes.mode_of(interp, state, value), thing if isinstance(thing, Closure) else None
    if mode is not None:
        return thing if closure is None else replace(closure, modes=(mode, *closure.modes))
    if _is_manager(interp, state, value):
        return thing if closure is None else replace(closure, managers=(value, *closure.managers))
    unread = unknown_contexts.is_unknown(interp, state, value)
    if isinstance(value, ClassValue) or _is_of_program(interp, state, value) or operators.registers(interp, value):
        made = _decorated(interp, frame, state, value, thing)
        if made is not None:
            return made
        unread = True
    if not unread or closure is None:
        return thing
    # UNSOUND: an unknown decorator that returns another function is assumed to call this one.
    called = decorator.func if isinstance(decorator, ir.Call) else decorator
    return replace(closure, unread=(*closure.unread, text_of(called) or "the decorator"))


def class_hooks(interp: Interpreter, state: State, cls: ClassValue) -> dict[str, Bound]:
    """Return what a base of a class, and its metaclass, run with each new class, by name."""
    hooks = {_OF_BASES: Bound(cls, interp.lookup(state, cls, _OF_BASES, cls) or NONE)}
    if cls.meta is not None:
        for name, receiver in (("__new__", cls.meta), ("__init__", cls)):
            hooks[name] = Bound(receiver, interp.lookup(state, cls.meta, name) or NONE)
    return {name: hook for name, hook in hooks.items() if isinstance(hook.function, Closure)}


def run_on_class(
    interp: Interpreter, frame: Frame, state: State, decorators: tuple[ir.Expr, ...], cls: ClassValue
) -> ClassValue:
    """
    Run what the program has run with each new class: hooks of its bases, its decorators; return what its name means.

        def safe(cls):
            class Copying(cls): ...
            return Copying
    """
    hooks = class_hooks(interp, state, cls)
    node = interp.context.definition(cls) if hooks else None
    given = tuple(
        (part.name, taken(state, interp.evaluate(frame, state, part.value)) or NONE)
        for part in (() if node is None else node.keywords)
        if part.name not in {None, "metaclass"}
    )
    for name in sorted(hooks, reverse=True):  # `__new__`, `__init_subclass__`, `__init__`
        named = () if name == _OF_BASES else (Const(cls.name), Tuple(cls.bases), namespace(interp, state, cls))
        interp.context.making.append(cls)
        with interp.fuel.scope(paths=_WAYS):
            taken(state, interp.call(frame, state, hooks[name], Arguments(named, given), 0))
        interp.context.making.pop()
    # IMPRECISE: a decorator that returns anything but a class of the program is assumed to return the one it is given.
    for decorator in reversed(decorators):
        value = taken(state, interp.evaluate(frame, state, decorator)) or NONE
        made = _decorated(interp, frame, state, value, cls) if _is_of_program(interp, state, value) else None
        cls = made if isinstance(made, ClassValue) else cls
    return cls


def namespace(interp: Interpreter, state: State, cls: ClassValue) -> Ref:
    """Return what the body of a class binds, and what was set since, as a new dict."""
    body = state.object(interp.class_body(state, cls))
    names = [*cls.methods, *(body.values if isinstance(body, Names) else ())]
    return state.new(DictObject({name: interp.lookup(state, cls, name) or NONE for name in names}))


def _is_of_program(interp: Interpreter, state: State, value: Value) -> bool:
    """Check whether the program defines what a call of a value runs."""
    match value:
        case Bound(_, function) | Partial(function):
            return isinstance(function, Closure)
        case Ref():
            instance = state.instance(value)
            return instance is not None and isinstance(interp.lookup(state, instance.cls, "__call__"), Closure)
        case _:
            return isinstance(value, Closure)


def _is_manager(interp: Interpreter, state: State, value: Value) -> bool:
    """Check whether a decorator is a context manager of the program, which is entered around each call."""
    if isinstance(value, Partial):
        return isinstance(value.function, Closure) and value.function.manages
    instance = state.instance(value)
    bases = interp.context.mro(instance.cls) if instance is not None else ()
    return any(isinstance(base, Dotted) and base.name in _ENTERED for base in bases)


def _decorated(interp: Interpreter, frame: Frame, state: State, decorator: Value, thing: Value) -> Value | None:
    """
    Call a decorator on a function or class; None when the result is not known to be callable.

    Where it may return the thing itself or something else, it is there for the latter.
    """
    if documenting.only_documents(interp, state, decorator, thing):
        return thing
    with interp.fuel.scope(paths=_WAYS):
        results = interp.call(frame, state, decorator, Arguments((thing,)), 0)
    results.sort(key=lambda result: result[1] == thing)
    value = taken(state, results)
    known = isinstance(value, Closure | Bound | Partial | ClassValue | Dotted)
    return value if known or (value is not None and _is_of_program(interp, state, value)) else None
