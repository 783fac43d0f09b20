"""Deep copies of values, as `copy.deepcopy` makes them, and layers that are made of copies of one."""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Tensor, alike
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, Tuple, Value


def duplicate(state: State, value: Value, done: dict[int, Ref]) -> Value:
    """Return a deep copy: new objects and storages, with the same sharing among them."""
    if isinstance(value, Tuple):
        return Tuple(tuple(duplicate(state, item, done) for item in value.items), value.exact, value.fields)
    if not isinstance(value, Ref):
        return value
    if value.id in done:
        return done[value.id]
    match state.object(value):
        case Tensor() as tensor:
            copied = Tensor(
                state.new_storage(),
                tensor.rg,
                tensor.leaf,
                param=tensor.param,
                **alike(tensor),
                framework=tensor.framework,
                why=tensor.why,
            )
            done[value.id] = state.new(copied)
        case ListObject(items, exact, kind):
            done[value.id] = state.new(ListObject((), exact, kind))
            copies = tuple(duplicate(state, item, done) for item in items)
            state.put(done[value.id], ListObject(copies, exact, kind))
        case DictObject(items) as mapping:
            done[value.id] = state.new(replace(mapping, items={}))
            mapped = {key: duplicate(state, item, done) for key, item in items.items()}
            state.put(done[value.id], replace(mapping, items=mapped))
        case Instance(cls, attrs, opaque, children, made, pending):
            done[value.id] = state.new(Instance(cls, {}, opaque, None, made, pending))
            new = {key: duplicate(state, item, done) for key, item in attrs.items()}
            inner = duplicate(state, children, done) if children is not None else None
            held = inner if isinstance(inner, Ref) else None
            state.put(done[value.id], Instance(cls, new, opaque, held, made, pending))
            for key in attrs:
                if state.has_trait(traits.BUFFER, (value.id, key)):
                    state.set_trait(traits.BUFFER, (done[value.id].id, key), True)
        case _:
            return value
    return done[value.id]
