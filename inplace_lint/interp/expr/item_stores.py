"""What `layers[1:] = [last]` and `del layers[1:]` make of a list, a dict or a module container."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from inplace_lint.domain import origins
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Object
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Dotted, Ref, SliceValue, Tuple, Value, key_of, may_be_key
from inplace_lint.interp.call import module_containers

_BOUNDS = 3


def unknown(state: State, receiver: Value) -> Value:
    """Return what stands for a mapping of a library, such as `os.environ`, the items of which the program has set."""
    return state.symbols.sym((origins.DOTTED, receiver.name)) if isinstance(receiver, Dotted) else receiver


def store(state: State, ref: Ref, thing: Object | None, index: Value, value: Value) -> None:
    """Store an item in a dict, a list or a module container."""
    match thing:
        case DictObject():
            state.put(ref, thing.stored(index, value))
        case ListObject():
            state.put(ref, _replaced(state, thing, index, value))
        case Instance(_, _, _, Ref() as children):
            inner = state.object(children)
            store(state, children, inner, module_containers.key_at(inner, index), value)
        case _:
            pass


def _replaced(state: State, thing: ListObject, index: Value, value: Value) -> ListObject:
    if (
        isinstance(index, Const)
        and isinstance(index.value, int)
        and -len(thing.items) <= index.value < len(thing.items)
    ):
        items = list(thing.items)
        items[index.value] = value
        return replace(thing, items=tuple(items))
    if isinstance(index, SliceValue):
        return _with_slice(state, thing, index, value)
    return replace(thing, exact=False)


def _with_slice(state: State, thing: ListObject, index: SliceValue, value: Value) -> ListObject:
    """Return a list with other items in a slice; where it is unknown which or how many, no item is known."""
    new = value if isinstance(value, Tuple) else state.object(value)
    bounds = [
        part.value
        for part in (index.lower, index.upper, index.step)
        if isinstance(part, Const) and isinstance(part.value, int | None)
    ]
    if not (thing.exact and isinstance(new, Tuple | ListObject) and new.exact and len(bounds) == _BOUNDS):
        return replace(thing, items=(), exact=False)
    items = list(thing.items)
    try:
        items[slice(*bounds)] = new.items
    except (TypeError, ValueError):  # the program raises it, too
        return thing
    return replace(thing, items=tuple(items))


def remove(state: State, receiver: Value, index: Value) -> None:
    """Take items out of a list, a dict or a module container; where it is unknown which, forget that all are there."""
    match state.object(receiver), receiver:
        case Instance(_, _, _, Ref() as children), _:
            remove(state, children, module_containers.key_at(state.object(children), index))
        case DictObject() as mapping, Ref():
            gone = [key_of(index)] if may_be_key(index) else _chosen(tuple(mapping.items), index)
            kept = {key: item for key, item in mapping.items.items() if key not in (gone or ())}
            known = gone is not None and all(key in mapping.items for key in gone)
            state.put(receiver, replace(mapping, items=kept, exact=mapping.exact and known))
        case ListObject() as inner, Ref():
            places = _chosen(range(len(inner.items)), index) if inner.exact else None
            rest = tuple(item for place, item in enumerate(inner.items) if place not in (places or ()))
            state.put(receiver, replace(inner, items=rest, exact=places is not None))
        case _:
            pass


def _chosen(items: Sequence[object], index: Value) -> Sequence[object] | None:
    """Return the items at an index or in a slice; None where that is unknown."""
    match index:
        case Const(int() as place) if -len(items) <= place < len(items):
            return [items[place]]
        case SliceValue(Const(int() | None as lower), Const(int() | None as upper), Const(int() | None as step)):
            return None if step == 0 else items[slice(lower, upper, step)]
        case _:
            return None
