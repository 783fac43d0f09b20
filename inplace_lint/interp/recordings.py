"""
The memory of calls.

A call of the same function on an argument graph of the same shape, in the same modes, with the same answers to what it
asked of conditions, is replayed instead of run. The key is the canonical form of what the arguments reach.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from enum import Enum

from inplace_lint.domain.heap import DictObject, Instance, ListObject, Names, Tensor
from inplace_lint.domain.recording import NotRecordable, PathRecord, Recording, record_path, replay, timeless
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
    Sym,
    Tuple,
    Value,
)
from inplace_lint.event import Site
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.program import Program
from inplace_lint.span import Place

Results = list[tuple[State, Value]]

_MOST_OBJECTS = 24
_SHORT = 60  # calls of fewer steps are run again sooner than remembered


def run(
    program: Program,
    frame: Frame,
    state: State,
    closure: Closure,
    values: dict[str, Value],
    site: Site,
    live: Callable[[State], Results],
) -> Results:
    """Give what a call returns, from memory where it can be."""
    if not _worth_it(program, state, closure, values):
        return live(state)
    graph = _Graph(state)
    try:
        shape = tuple((name, graph.value(value)) for name, value in values.items())
    except NotRecordable:
        return _measured(program, closure, state, live)
    function = closure.function
    width = program.budget.width
    key = (function.slice, function.sha, state.modes, closure.modes, width, len(frame.stack), shape)
    known = program.memory.get(key)
    arguments = tuple(graph.seen)
    if known is not None:
        replayed = _replay(state, known, arguments, site)
        if replayed is not None:
            program.budget.counters["calls_replayed"] += 1
            return replayed
        return live(state)
    if key in program.met_calls:
        # Most calls come once: writing down what they do would cost more than it saves.
        program.met_calls.remove(key)
        return _record(program, state, key, arguments, site, live)
    program.met_calls.add(key)
    return _measured(program, closure, state, live)


def _measured(program: Program, closure: Closure, state: State, live: Callable[[State], Results]) -> Results:
    """Run a call, and remember of its function whether it is short."""
    steps = program.budget.steps
    results = live(state)
    if program.budget.steps >= 0 and steps - program.budget.steps < _SHORT:
        program.short.add(closure.function.slice)
    return results


def _worth_it(program: Program, state: State, closure: Closure, values: dict[str, Value]) -> bool:
    """Say whether a call may be remembered: a constructor or a free function, not short, on no tensors."""
    function = closure.function
    if closure.env is not None or function.is_generator or function.slice in program.short:
        return False
    if closure.owner is not None and not function.qualname.endswith("__init__"):
        return False
    return not any(state.tensor(value) is not None for value in values.values())


def _replay(state: State, known: Recording, arguments: tuple[int, ...], site: Site) -> Results | None:
    """Give the recorded paths on this state; None when a condition is known differently here."""
    for path in known.paths:
        if any(state.truth(condition) is not side for condition, side in path.asked):
            return None
    results: Results = []
    for position, path in enumerate(known.paths):
        own = state if position == len(known.paths) - 1 else state.fork()
        results.append((own, replay(known, path, arguments, own, site)))
    return results


def _record(
    program: Program,
    state: State,
    key: Hashable,
    arguments: tuple[int, ...],
    site: Site,
    live: Callable[[State], Results],
) -> Results:
    """Run a call and remember what it did, if it can be done again elsewhere."""
    outer = state.log
    logged = len(outer) if outer is not None else 0
    if outer is None:
        state.log = []
    start, clock, before = state.next_id, state.clock, (state.events, state.assumptions)
    symbols = len(state.symbols.keys)
    results = live(state)
    if program.budget.steps < 0:
        for after, _ in results:
            after.log = after.log if outer is not None else None
        return results
    paths: list[PathRecord] = []
    recordable = bool(results)
    for after, value in results:
        log = (after.log or [])[logged:]
        if outer is None:
            after.log = None
        if not recordable or (after.events, after.assumptions) != before:
            recordable = False
            continue
        try:
            paths.append(record_path(after, value, log, frozenset(arguments), start, clock))
            _check_symbols(after, paths[-1], symbols)
        except NotRecordable:
            recordable = False
    if recordable:
        program.memory[key] = Recording(arguments, start, clock, site, tuple(paths))
    return results


def _check_symbols(state: State, path: PathRecord, known: int) -> None:
    """Raise `NotRecordable` if a symbol in a record stands for one moment of one run."""
    waiting: list[object] = [path.value, *(thing for _, _, thing in path.changes)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Sym):
            if not timeless(state, part.id, known):
                raise NotRecordable
        elif isinstance(part, Const | Dotted | ModuleValue | Imported | ClassValue | str | Enum | Place | Site | Ref):
            continue
        elif isinstance(part, tuple):
            waiting.extend(part)
        elif isinstance(part, dict):
            waiting.extend(part.values())
        elif is_dataclass(part):
            waiting.extend(getattr(part, item.name) for item in fields(part))


class _Graph:
    """The canonical form of what the arguments of a call reach: objects are numbered as they are met."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.seen: dict[int, int] = {}

    def value(self, value: Value) -> Hashable:
        """Give the form of a value; raises `NotRecordable` for one that is too large or belongs to one state only."""
        match value:
            case Const(constant, origin):
                # Rates and scales that grow with the depth of a network decide nothing but whether they are zero.
                known = bool(constant) if isinstance(constant, float) else constant
                return type(constant).__name__, known, origin
            case Ref(number):
                return self._object(number)
            case Sym(number):
                if ("tensor", number) in self.state.bindings:
                    raise NotRecordable
                return "sym", number
            case Tuple(items, exact, names):
                return "tuple", tuple(self.value(item) for item in items), exact, names
            case Dotted() | ModuleValue() | Imported():
                return value
            case ClassValue():
                return "class", id(value)
            case Partial(inner, arguments, keywords):
                given = tuple((name, self.value(item)) for name, item in keywords)
                return "partial", self.value(inner), tuple(self.value(item) for item in arguments), given
            case Closure(function, _, None, _, None, modes, wrapper):
                return "function", function.slice, function.sha, modes, wrapper
            case _:
                raise NotRecordable

    def _object(self, number: int) -> Hashable:
        known = self.seen.get(number)
        if known is not None:
            return "seen", known
        if len(self.seen) >= _MOST_OBJECTS:
            raise NotRecordable
        self.seen[number] = len(self.seen)
        match self.state.heap[number]:
            case ListObject(items, exact, kind):
                return kind, tuple(self.value(item) for item in items), exact
            case DictObject(items, exact, default):
                form = tuple((key, self.value(item)) for key, item in items.items())
                return "dict", form, exact, None if default is None else self.value(default)
            case Instance(cls, attrs, opaque, children, made):
                form = tuple((name, self.value(item)) for name, item in attrs.items())
                inner = None if children is None else self._object(children.id)
                return "instance", self.value(cls), form, opaque, inner, made
            case Tensor() | Names():
                # A call on tensors depends on their versions and saves: it is run.
                raise NotRecordable
