"""What an assignment to an item makes of a list, a dict or a module container: `layers[1:] = [last]`."""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.domain.heap import DictObject, Instance, ListObject, Object
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Ref, SliceValue, Tuple, Value
from inplace_lint.interp.call import module_containers

_BOUNDS = 3


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
