"""Methods of lists, dicts, tuples, strings and numbers on symbolic values."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, ListObject, set_of
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    NONE,
    Builtin,
    Certain,
    Const,
    Ref,
    Sym,
    Tuple,
    Value,
    is_absent,
    key_of,
    may_be_key,
    of_key,
)
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.expr import item_stores, own_names, registries
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Raised, Results
from inplace_lint.interp.pylib import constant_folding, iterators, mappings, numbered_names
from inplace_lint.ir import nodes as ir


def _reads(function: Builtin, given: Sequence[Value]) -> bool:
    """Check whether a method of the names of a module looks one up by an unknown text."""
    return function.name in {"get", "__getitem__"} and bool(given) and isinstance(given[0], Sym)


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
        given = arguments.positional
        named = numbered_names.item(interp, frame, state, receiver, given[0], at) if _reads(function, given) else None
        return [(state, named or own_names.method(interp, state, receiver, function.name, given))]
    known = constant_folding.method(state, function.name, receiver, arguments.positional, arguments.keywords)
    if known is not None:
        return [(state, known)]
    error = _error(state, receiver, function.name, arguments) if interp.fuel.listens else None
    if error is not None:
        return interp.fuel.leave(state, Raised(error, frame.site(at)))
    return _of_container(interp, frame, state, function, receiver, arguments, at)


def _of_container(
    interp: Interpreter, frame: Frame, state: State, function: Builtin, receiver: Value, arguments: Arguments, at: int
) -> Results:
    """Run a method of a list or dict; that of any other value is a constant or unknown."""
    if function.name == "__getitem__" and arguments.positional:
        return interp.get_item(frame, state, receiver, arguments.positional[0], ir.Const(None))
    match state.object(receiver), receiver:
        case ListObject() as inner, Ref() as ref if function.name == "sort":
            return _sort(interp, frame, state, ref, inner, arguments, at)
        case ListObject() as inner, Ref() as ref if function.name in {"put", "put_nowait"} and arguments.positional:
            # Nobody keeps it there: another thread may have taken out what was put there before.
            state.put(ref, _of_kind(inner.extended(arguments.positional[:1])))
            return [(state, NONE)]
        case ListObject(kind="context") as inner, Ref() as ref:
            return [(state, _of_context(state, ref, inner, function.name, arguments))]
        case ListObject() as inner, Ref() as ref:
            name = _OF_QUEUES.get(function.name, function.name)
            return [(state, _list_method(interp, frame, state, ref, inner, name, arguments, at))]
        case DictObject() as mapping, Ref() as ref:
            place = Place(frame.slice, at)
            if function.name == "get" and arguments.positional:
                mapping = registries.filled(interp, state, ref, mapping, arguments.positional[0])
                interp.context.coverage.entry(frame, state, at, mapping, arguments.positional[0])
            return [(state, _dict_method(interp, state, ref, mapping, function.name, arguments, place))]
        case _:
            return [(state, _of_constant(state, receiver, function.name, arguments))]


def _of_context(state: State, ref: Ref, variable: ListObject, name: str, arguments: Arguments) -> Value:
    """Run a method of a context variable, whose only item is its value; the token of `set` holds the one before."""
    given = arguments.positional[:1]
    token = state.object(given[0]) if given else None
    if name == "get":
        return (variable.items or given or (state.symbols.sym((origins.ITEM, ref, state.next_id)),))[0]
    if name == "set" and given:
        state.put(ref, replace(variable, items=given))
    elif name == "reset" and isinstance(token, ListObject):
        state.put(ref, replace(variable, items=token.items))
    usual = [state.trait(traits.DEFAULT, item.id) if isinstance(item, Sym) else None for item in variable.items]
    before = tuple(default or item for default, item in zip(usual, variable.items, strict=True))
    return state.new(ListObject(before, kind="context"))


_OF_QUEUES = {"get": "popleft", "get_nowait": "popleft"}
_OF_FIELDS = frozenset({"_replace", "_asdict"})


def _error(state: State, receiver: Value, name: str, arguments: Arguments) -> Builtin | None:
    """Return the exception that a method certainly raises, as what it asks for is missing; None if it may not."""
    inner, given = state.object(receiver), arguments.positional
    if isinstance(inner, ListObject) and inner.exact:
        if name in _TAKES_OUT and not inner.items:
            return Builtin("KeyError" if inner.kind == "set" else "IndexError")
        if name in {"remove", "index"} and len(given) == 1 and _place(state, inner.items, given[0]) == len(inner.items):
            return Builtin("KeyError" if inner.kind == "set" else "ValueError")
    if isinstance(inner, DictObject) and inner.exact and name == "pop" and len(arguments.values) == 1 and given:
        key = path_condition.known(state, given[0])
        return Builtin("KeyError") if isinstance(key, Const) and is_absent(inner.items, key) else None
    return None


_TAKES_OUT = frozenset({"pop", "popleft"})


def _of_constant(state: State, receiver: Value, name: str, arguments: Arguments) -> Value:
    """Return what a method of a text or a named tuple returns; that of any other value is unknown."""
    match receiver:
        case Tuple() as row if row.fields and name in _OF_FIELDS and not arguments.unknown:
            return _with_fields(state, row, name, arguments)
        case Tuple(items, True) if name == "index" and arguments.positional:
            return _index(state, receiver, items, arguments.positional[0], arguments)
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
            state.put(ref, _of_kind(inner.extended((first,), left=name == "appendleft")))
        case "extend" | "extendleft" | "update" | "__init__" if first is not None:
            more = interp.turns(frame, state, first, None, at)
            for item in more.items:
                interp.listeners.store(state, Place(frame.slice, at), item, inner.items)
            left = name == "extendleft"
            longer = inner.extended(more.items[::-1] if left else more.items, exact=more.exact, left=left)
            state.put(ref, _of_kind(longer))
        case "insert" | "__setitem__" if len(arguments.positional) > 1:
            interp.listeners.store(state, Place(frame.slice, at), arguments.positional[1], inner.items)
            put = _insert if name == "insert" else item_stores.store
            put(state, ref, inner, arguments.positional[0], arguments.positional[1])
        case "pop" | "popleft":
            return _pop(state, ref, inner, Const(0) if name == "popleft" else first)
        case "clear" | "reverse" | "rotate" | "remove" | "discard":
            state.put(ref, _changed(state, inner, name, first))
        case "copy":
            return state.new(inner)
        case _ if name.endswith("_update"):
            state.put(ref, replace(inner, items=(), exact=False))
        case "index" if first is not None and inner.exact:
            return _index(state, ref, inner.items, first, arguments)
        case _:
            return state.symbols.sym((origins.METHOD, name, ref, arguments.positional, state.next_id))
    return NONE


def _changed(state: State, inner: ListObject, name: str, first: Value | None) -> ListObject:
    """Return a list or set after a method that takes items out of it, or puts them in another order."""
    match name:
        case "clear":
            return replace(inner, items=(), exact=True)
        case "reverse":
            return replace(inner, items=inner.items[::-1])
        case "rotate":
            return _rotated(inner, Const(1) if first is None else first)
        case _:
            return _without(state, inner, NONE if first is None else first)


def _place(state: State, items: Sequence[Value], value: Value) -> int | None:
    """Return the place of the first of some items that equals a value, the length if none does; None if not certain."""
    for place, item in enumerate(items):
        if item == value:
            return place
        objects = state.instance(item) is not None and state.instance(value) is not None
        if not objects and not (isinstance(item, Certain) and isinstance(value, Certain)):
            return None
    return len(items)


def _index(state: State, receiver: Value, items: Sequence[Value], value: Value, arguments: Arguments) -> Value:
    """Return the place of an item in a list or tuple."""
    place = _place(state, items, value) if len(arguments.values) == 1 else None
    if place is None or place == len(items):
        return state.symbols.sym((origins.METHOD, "index", receiver, arguments.positional, state.next_id), "number")
    return Const(place)


def _without(state: State, inner: ListObject, value: Value) -> ListObject:
    """Return a list or set without one item; where it is not certain which that is, what stays is unknown."""
    place = _place(state, inner.items, value)
    if place is None or not (inner.exact or place < len(inner.items)):
        return replace(inner, items=(), exact=False)
    return replace(inner, items=inner.items[:place] + inner.items[place + 1 :])


def _rotated(inner: ListObject, steps: Value) -> ListObject:
    if not inner.exact or not isinstance(steps, Const) or type(steps.value) is not int:
        return replace(inner, items=(), exact=False)
    first = -steps.value % max(1, len(inner.items))
    return replace(inner, items=inner.items[first:] + inner.items[:first])


def _insert(state: State, ref: Ref, inner: ListObject, index: Value, value: Value) -> None:
    if isinstance(index, Const) and isinstance(index.value, int):
        items = list(inner.items)
        items.insert(index.value, value)
        state.put(ref, replace(inner, items=tuple(items)))
    else:
        state.put(ref, replace(inner, items=(*inner.items, value), exact=False))


def _of_kind(longer: ListObject) -> ListObject:
    """Return what was made longer; a set has nothing twice."""
    return set_of(longer.items, exact=longer.exact) if longer.kind == "set" else longer


def _pop(state: State, ref: Ref, inner: ListObject, index: Value | None) -> Value:
    position = -1 if index is None else index.value if isinstance(index, Const) else None
    if isinstance(position, int) and inner.exact and -len(inner.items) <= position < len(inner.items):
        items = list(inner.items)
        value = items.pop(position)
        state.put(ref, replace(inner, items=tuple(items)))
        return value
    state.put(ref, replace(inner, exact=False))
    return state.symbols.sym((origins.POPPED, ref, state.next_id))


def _sort(
    interp: Interpreter, frame: Frame, state: State, ref: Ref, inner: ListObject, arguments: Arguments, at: int
) -> Results:
    """Sort a list in place; where the order is not known, its items keep their places."""
    results: Results = []
    for after, order in iterators.orders(interp, frame, state, inner.items, arguments, at):
        known = order is not None and inner.exact
        items = tuple(inner.items[place] for place in order or ()) if known else inner.items
        after.put(ref, replace(inner, items=items, exact=known))
        results.append((after, NONE))
    return results


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
            usual = mappings.with_option(interp, state, ref, mapping, first, second)
            return _dict_get(state, ref, mapping, name, first, usual)
        case "__setitem__" if first is not None:
            interp.listeners.store(state, place, second, ())
            state.put(ref, mapping.stored(first, second))
            return NONE
        case "update" | "__init__" if mapping.default is None:
            known = DictObject({}) if first is None else _read(state, first)
            more: dict[object, Value] = {**known.items, **dict(arguments.keywords)}
            for value in more.values():
                interp.listeners.store(state, place, value, ())
            state.put(ref, mapping.joined(DictObject(more, known.exact)))
            return NONE
        case "copy":
            return state.new(mapping)
        case _:
            moved = _drop(state, ref, mapping, name, first) or _move_pair(state, ref, mapping, name, arguments)
            return moved or state.symbols.sym((origins.METHOD, name, ref, arguments.positional, state.next_id))


def _drop(state: State, ref: Ref, mapping: DictObject, name: str, key: Value | None) -> Const | None:
    """Run a method that takes items out of a dict, or adds to those of a counter; return None for another method."""
    if name == "clear":
        state.put(ref, replace(mapping, items={}, exact=True))
    elif name == "__delitem__" and key is not None:
        item_stores.remove(state, ref, key)
    elif name in {"update", "subtract"}:
        state.put(ref, DictObject({}, exact=False))
    else:
        return None
    return NONE


def _move_pair(state: State, ref: Ref, mapping: DictObject, name: str, arguments: Arguments) -> Value | None:
    """Run `popitem` or `move_to_end`, at the end unless `last` is false; return None for another method."""
    given = arguments.positional
    place = {"popitem": 0, "move_to_end": 1}.get(name)
    if place is None or not mapping.exact:
        return None
    last = given[place] if len(given) > place else arguments.named("last")
    first = last is not None and path_condition.truth(state, last) is False
    if name == "popitem":
        pair = mapping.pairs[0 if first else -1] if mapping.items else None
    else:
        pair = next((pair for pair in mapping.pairs if given and pair[0] == given[0]), None)
    if pair is None:
        return None
    rest = {key: item for key, item in mapping.items.items() if key != key_of(pair[0])}
    moved = {} if name == "popitem" else {key_of(pair[0]): pair[1]}
    state.put(ref, replace(mapping, items={**moved, **rest} if first else {**rest, **moved}))
    return Tuple(pair) if name == "popitem" else NONE


def _read(state: State, value: Value) -> DictObject:
    """Return the dict that a value is, or that a list of keys and values makes."""
    match value, state.object(state.contents(value)):
        case _, DictObject() as mapping:
            return mapping
        case (Tuple(items, exact), _) | (_, ListObject(items, exact)):
            return mappings.of_pairs(state, items, exact=exact)
        case _:
            return DictObject({}, exact=False)


def _dict_get(state: State, ref: Ref, mapping: DictObject, name: str, key: Value, default: Value) -> Value:
    found = mapping.items.get(key_of(key)) if may_be_key(key) else None
    if found is None and mappings.is_default(state, ref, key, default):
        return default
    if found is None and not (mapping.exact and is_absent(mapping.items, key)):
        return state.symbols.sym((origins.ITEM, ref, key))
    if name == "pop":
        rest = {other: value for other, value in mapping.items.items() if other != key_of(key)}
        state.put(ref, replace(mapping, items=rest))
    if name == "setdefault" and found is None:
        state.put(ref, mapping.stored(key, default))
    return found if found is not None else default
