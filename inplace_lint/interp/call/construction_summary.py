"""
Construction summaries: the constructor of a repeated block is run once, and its result is copied from then on.

    [Block(dim, rate=rates[i]) for i in range(depth)]

A summary applies to each later call that constructs the same class on the same arguments. Arguments that are rates need
not be equal: two floats match if both are zero or neither is, and any two unknown numbers match.
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

_SHORT = 10  # steps below which running a constructor again is faster than copying its result


class _NotComparable(Exception):  # noqa: N818 - not an error: the construction then has no summary
    """Raised for an argument that cannot be compared with that of another call."""


def construct(
    interp: Interpreter, state: State, cls: ClassValue, arguments: Arguments, run: Callable[[State], Results]
) -> Results:
    """Construct an instance by `run`, or copy the summary of an earlier construction on matching arguments."""
    try:
        key = _key(interp, state, cls, arguments)
    except _NotComparable:
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
    if arguments.unknown or arguments.forwarded:
        raise _NotComparable
    positional = tuple([_form(state, value) for value in arguments.positional])
    keywords = tuple([(name, _form(state, value)) for name, value in arguments.keywords])
    return id(cls), interp.fuel.width, state.modes, positional, keywords


def _form(state: State, value: Value) -> Hashable:
    match value:
        case Const(constant, origin):
            # Of a rate that depends on the depth of a block, only whether it is zero decides which branches run.
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
            raise _NotComparable


def _form_of_object(state: State, number: RefId) -> Hashable:
    """Return a key for an object: lists and dicts of constants by content, all else by identity and state."""
    thing = state.heap[number]
    if isinstance(thing, ListObject) and thing.exact and all(isinstance(item, Const) for item in thing.items):
        return thing.kind, tuple([_form(state, item) for item in thing.items])
    if isinstance(thing, DictObject) and thing.exact and all(isinstance(item, Const) for item in thing.items.values()):
        return "dict", tuple([(name, _form(state, item)) for name, item in thing.items.items()])
    return number, _Same(thing)


class _Same:
    """An object compared by identity, kept alive so that no other object takes its address."""

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.thing is self.thing
