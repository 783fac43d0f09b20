"""Methods of lists, dicts, tuples, strings and numbers on symbolic values."""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.core.span import Place
from inplace_lint.domain import origins
from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NONE,
    Builtin,
    Const,
    Ref,
    Tuple,
    Value,
    are_distinct,
    is_absent,
    key_of,
    may_be_key,
    of_key,
)
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.expr import own_names, registries
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.pylib import constant_folding, mappings
from inplace_lint.ir import nodes as ir


def call(interp: Interpreter, frame: Frame, state: State, function: Builtin, arguments: Arguments, at: int) -> Results:
    """Run a method of a builtin type and return its result."""
    receiver = function.receiver
    assert receiver is not None
    owner = own_names.object_of(state, receiver) if own_names.is_mapping(receiver) else None
    if owner is not None and state.instance(owner) is not None:
        copy = state.contents(receiver)
        assert isinstance(copy, Ref)
        results = call(interp, frame, state, replace(function, receiver=copy), arguments, at)
        for after, _ in results:
            own_names.write_back(after, owner, copy)
        return results
    if own_names.is_mapping(receiver):
        return [(state, own_names.method(interp, state, receiver, function.name, arguments.positional))]
    known = constant_folding.method(state, function.name, receiver, arguments.positional, arguments.keywords)
    if known is not None:
        return [(state, known)]
    match state.object(receiver), receiver:
        case ListObject() as inner, Ref() as ref:
            return [(state, _list_method(interp, frame, state, ref, inner, function.name, arguments, at))]
        case DictObject(), Ref() if function.name == "__getitem__" and arguments.positional:
            return interp.get_item(frame, state, receiver, arguments.positional[0], ir.Const(None))
        case DictObject() as mapping, Ref() as ref:
            place = Place(frame.slice, at)
            if function.name == "get" and arguments.positional:
                mapping = registries.filled(interp, state, ref, mapping, arguments.positional[0])
                interp.context.coverage.entry(frame, state, at, mapping, arguments.positional[0])
            return [(state, _dict_method(interp, state, ref, mapping, function.name, arguments, place))]
        case _:
            return [(state, _of_constant(state, receiver, function.name, arguments))]


_OF_FIELDS = frozenset({"_replace", "_asdict"})


def _of_constant(state: State, receiver: Value, name: str, arguments: Arguments) -> Value:
    """Return what a method of a text or a named tuple returns; that of any other value is unknown."""
    match receiver:
        case Tuple() as row if row.fields and name in _OF_FIELDS and not arguments.unknown:
            return _with_fields(state, row, name, arguments)
        case Const(str() as text):
            return state.symbols.sym((origins.METHOD, name, text, arguments.positional), "str")
        case _:
            return state.symbols.sym((origins.METHOD, name, receiver, arguments.positional, state.next_id))


def _with_fields(state: State, row: Tuple, name: str, arguments: Arguments) -> Value:
    """Return a named tuple with other items, or a dict of its items."""
    parts: dict[object, Value] = {**dict(zip(row.fields, row.items, strict=True)), **dict(arguments.keywords)}
    if name == "_asdict":
        return state.new(DictObject(parts))
    return replace(row, items=tuple(parts[field] for field in row.fields))


def _list_method(
    interp: Interpreter,
    frame: Frame,
    state: State,
    ref: Ref,
    inner: ListObject,
    name: str,
    arguments: Arguments,
    at: int,
) -> Value:
    first = arguments.positional[0] if arguments.positional else None
    match name:
        case "append" | "add" | "appendleft" if first is not None:
            interp.listeners.store(state, Place(frame.slice, at), first, inner.items)
            items = (first, *inner.items) if name == "appendleft" else (*inner.items, first)
            state.put(ref, replace(inner, items=items, exact=inner.exact and (name != "add" or are_distinct(items))))
        case "extend" | "update" if first is not None:
            more = interp.turns(frame, state, first, None, at)
            for item in more.items:
                interp.listeners.store(state, Place(frame.slice, at), item, inner.items)
            state.put(ref, replace(inner, items=inner.items + more.items, exact=inner.exact and more.exact))
        case "insert" if len(arguments.positional) > 1:
            interp.listeners.store(state, Place(frame.slice, at), arguments.positional[1], inner.items)
            _insert(state, ref, inner, arguments.positional[0], arguments.positional[1])
        case "pop" | "popleft":
            return _pop(state, ref, inner, Const(0) if name == "popleft" else first)
        case "clear":
            state.put(ref, replace(inner, items=(), exact=True))
        case "copy":
            return state.new(inner)
        case "reverse":
            state.put(ref, replace(inner, items=inner.items[::-1]))
        case "remove" | "discard" | "sort":
            state.put(ref, replace(inner, exact=False))
        case _:
            return state.symbols.sym((origins.METHOD, name, ref, arguments.positional, state.next_id))
    return NONE


def _insert(state: State, ref: Ref, inner: ListObject, index: Value, value: Value) -> None:
    if isinstance(index, Const) and isinstance(index.value, int):
        items = list(inner.items)
        items.insert(index.value, value)
        state.put(ref, replace(inner, items=tuple(items)))
    else:
        state.put(ref, replace(inner, items=(*inner.items, value), exact=False))


def _pop(state: State, ref: Ref, inner: ListObject, index: Value | None) -> Value:
    position = -1 if index is None else index.value if isinstance(index, Const) else None
    if isinstance(position, int) and inner.exact and -len(inner.items) <= position < len(inner.items):
        items = list(inner.items)
        value = items.pop(position)
        state.put(ref, replace(inner, items=tuple(items)))
        return value
    state.put(ref, replace(inner, exact=False))
    return state.symbols.sym((origins.POPPED, ref, state.next_id))


def _dict_method(
    interp: Interpreter, state: State, ref: Ref, mapping: DictObject, name: str, arguments: Arguments, place: Place
) -> Value:
    first = path_condition.known(state, arguments.positional[0]) if arguments.positional else None
    second = arguments.positional[1] if len(arguments.positional) > 1 else NONE
    match name:
        case "items":
            return Tuple(tuple(Tuple(pair) for pair in mapping.pairs), mapping.exact)
        case "values":
            return Tuple(tuple(mapping.items.values()), mapping.exact)
        case "keys":
            return Tuple(tuple(of_key(key) for key in mapping.items), mapping.exact)
        case "get" | "pop" | "setdefault" if first is not None and (
            may_be_key(first) or mappings.is_default(state, ref, first, second)
        ):
            return _dict_get(state, ref, mapping, name, first, second)
        case "__setitem__" if first is not None:
            interp.listeners.store(state, place, second, ())
            state.put(ref, mapping.stored(first, second))
            return NONE
        case "update" | "__init__":
            known = DictObject({}) if first is None else _read(state, first)
            more: dict[object, Value] = {**known.items, **dict(arguments.keywords)}
            for value in more.values():
                interp.listeners.store(state, place, value, ())
            state.put(ref, mapping.joined(DictObject(more, known.exact)))
            return NONE
        case "copy":
            return state.new(mapping)
        case "clear":
            state.put(ref, replace(mapping, items={}, exact=True))
            return NONE
        case _:
            return state.symbols.sym((origins.METHOD, name, ref, arguments.positional, state.next_id))


def _read(state: State, value: Value) -> DictObject:
    """Return the dict that a value is, or that a list of keys and values makes."""
    match value, state.object(state.contents(value)):
        case _, DictObject() as mapping:
            return mapping
        case (Tuple(items, exact), _) | (_, ListObject(items, exact)):
            return mappings.of_pairs(items, exact=exact)
        case _:
            return DictObject({}, exact=False)


def _dict_get(state: State, ref: Ref, mapping: DictObject, name: str, key: Value, default: Value) -> Value:
    found = mapping.items.get(key_of(key)) if may_be_key(key) else None
    if found is None and mappings.is_default(state, ref, key, default):
        return default
    if found is None and not (mapping.exact and is_absent(mapping.items, key)):
        return state.symbols.sym((origins.ITEM, ref, key))
    if name == "pop" and found is not None:
        rest = {other: value for other, value in mapping.items.items() if other != key_of(key)}
        state.put(ref, replace(mapping, items=rest))
    if name == "setdefault" and found is None:
        state.put(ref, mapping.stored(key, default))
    return found if found is not None else default
