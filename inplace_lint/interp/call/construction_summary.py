"""
Constructions that repeat: the blocks of a deep network are run once and copied from then on.

    [Block(dim, rate=rates[i]) for i in range(depth)]

Two calls repeat each other when they construct the same class on the same arguments but for rates: floats that are both
zero or both not, and unknown numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from inplace_lint.domain import heap_templates
from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    ClassValue,
    Closure,
    Const,
    Dotted,
    Imported,
    ModuleValue,
    Partial,
    Ref,
    RefId,
    Sym,
    Value,
)
from inplace_lint.domain.values import Tuple as TupleValue
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results

_SHORT = 10  # constructions of fewer steps are run again sooner than copied


class _Unlike(Exception):  # noqa: N818 - no error: such an argument is never the same twice
    """An argument by which two calls cannot be compared."""


def construct(
    interp: Interpreter, state: State, cls: ClassValue, arguments: Arguments, run: Callable[[State], Results]
) -> Results:
    """Give what `run` gives for the construction of a class, or a copy of what it gave for the same before."""
    try:
        key = _key(interp, state, cls, arguments)
    except _Unlike:
        return run(state)
    known = state.templates.get(key)
    if isinstance(known, heap_templates.Template):
        interp.fuel.counters["constructions_repeated"] += 1
        return [(state, heap_templates.make(state, known))]
    moment = heap_templates.mark(state)
    steps = interp.fuel.steps
    results = run(state)
    made = [
        (after, heap_templates.made_since(after, moment, value)) for after, value in results if isinstance(value, Ref)
    ]
    if len(made) == len(results) == 1 and steps - interp.fuel.steps >= _SHORT and interp.fuel.steps >= 0:
        after, template = made[0]
        if template is not None:
            after.templates[key] = template
    return results


def _key(interp: Interpreter, state: State, cls: ClassValue, arguments: Arguments) -> Hashable:
    if arguments.unknown:
        raise _Unlike
    positional = tuple([_form(state, value) for value in arguments.positional])
    keywords = tuple([(name, _form(state, value)) for name, value in arguments.keywords])
    return id(cls), interp.fuel.width, state.modes, positional, keywords


def _form(state: State, value: Value) -> Hashable:
    match value:
        case Const(constant, origin):
            # Rates that grow with the depth of a network decide nothing but whether they are zero.
            return type(constant).__name__, bool(constant) if isinstance(constant, float) else constant, origin
        case Sym(number, kind):
            return ("sym", number) if kind != "number" else kind
        case TupleValue(items, exact, names):
            return tuple([_form(state, item) for item in items]), exact, names
        case Ref(number):
            return _form_of_object(state, number)
        case Dotted() | ModuleValue() | Imported():
            return value
        case ClassValue():
            return "class", id(value)
        case Closure(function, _, env, defaults):
            return id(function), env, tuple([(name, _form(state, default)) for name, default in defaults])
        case Partial(inner, args, keywords):
            given = tuple([(name, _form(state, item)) for name, item in keywords])
            return _form(state, inner), tuple([_form(state, item) for item in args]), given
        case _:
            raise _Unlike


def _form_of_object(state: State, number: RefId) -> Hashable:
    """Tell lists and dicts of constants by what is in them, all else by its identity and content."""
    thing = state.heap[number]
    if isinstance(thing, ListObject) and thing.exact and all(isinstance(item, Const) for item in thing.items):
        return thing.kind, tuple([_form(state, item) for item in thing.items])
    if isinstance(thing, DictObject) and thing.exact and all(isinstance(item, Const) for item in thing.items.values()):
        return "dict", tuple([(name, _form(state, item)) for name, item in thing.items.items()])
    return number, _Same(thing)


class _Same:
    """An object compared by identity, and kept alive so that no other takes its place."""

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.thing is self.thing
