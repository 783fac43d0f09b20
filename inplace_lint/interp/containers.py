"""Containers of modules: what they hold, in which order, and what a call of one runs."""

from __future__ import annotations

from dataclasses import dataclass

from inplace_lint.domain.heap import DictObject, Instance, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Ref, SliceValue, Value


@dataclass(frozen=True, slots=True)
class Children:
    """The modules in a container, by name; `exact` when these are certainly all."""

    pairs: tuple[tuple[str, Value], ...]
    exact: bool


def children(state: State, instance: Instance) -> Children:
    """List what a container holds, in order."""
    inner = state.object(instance.children) if instance.children is not None else None
    match inner:
        case ListObject(items, exact):
            return Children(tuple((str(position), item) for position, item in enumerate(items)), exact)
        case DictObject(items, exact):
            return Children(tuple((str(key), item) for key, item in items.items()), exact)
        case _:
            return Children((), exact=False)


def item(state: State, instance: Instance, inner: ListObject, index: Value) -> Value:
    """Give an item or a slice of a container that is indexed by position."""
    if isinstance(index, Const) and isinstance(index.value, int) and -len(inner.items) <= index.value < len(inner.items):
        return inner.items[index.value]
    if isinstance(index, SliceValue):
        parts = [part.value if isinstance(part, Const) else None for part in (index.lower, index.upper, index.step)]
        bounds = [part if isinstance(part, int) else None for part in parts]
        chosen = ListObject(inner.items[slice(*bounds)], inner.exact)
        return state.new(Instance(instance.cls, instance.attrs, instance.opaque, state.new(chosen)))
    # IMPRECISE: an unknown position is taken for the first: the modules of a list are built alike.
    return inner.items[0] if inner.items else state.symbols.sym(("item", instance.children, index))


def extend(state: State, container: Ref, values: tuple[Value, ...], *, exact: bool = True) -> None:
    """Append modules to a list-like container."""
    instance = state.instance(container)
    inner = state.object(instance.children) if instance is not None and instance.children is not None else None
    if instance is not None and instance.children is not None and isinstance(inner, ListObject):
        state.put(instance.children, ListObject(inner.items + values, inner.exact and exact, inner.kind))


def put(state: State, container: Ref, name: object, value: Value) -> None:
    """Set a module of a container by name or position."""
    instance = state.instance(container)
    if instance is None or instance.children is None:
        return
    inner = state.object(instance.children)
    if isinstance(inner, DictObject):
        state.put(instance.children, DictObject({**inner.items, name: value}, inner.exact, inner.default))
    elif isinstance(inner, ListObject):
        # A sequence that is given names keeps only their order.
        state.put(instance.children, ListObject((*inner.items, value), inner.exact, inner.kind))
