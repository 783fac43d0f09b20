"""
Renaming of ids in objects of the heap, for copies of a construction.

    IdRenaming(10, 5).thing(Ref(12))     # Ref(17); Ref(9) stays as it is

Also which refs and unknown values an object contains, and whether an unknown value means the same in a copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.event import Site, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain.heap import Instance, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Const, Dotted, Imported, ModuleValue, Ref, Sym, SymId, Value

_WITHOUT_IDS: frozenset[type] = frozenset(
    {Const, Dotted, ModuleValue, Imported, ClassValue, Sym, Place, Site, Touch, str, bool, int, frozenset, type(None)}
)


_NUMBERS = frozenset({"storage", "device"})  # fields that are ids without being refs

Id = TypeVar("Id", bound=int)


class IdRenaming:
    """Renames the ids in objects: `shift` is added to those above `start`, all others stay."""

    def __init__(self, start: int, shift: int) -> None:
        self.start, self.shift = start, shift

    def number(self, number: Id) -> Id:
        """Return the new id for an id."""
        return number + self.shift if number > self.start else number  # type: ignore[return-value]

    def thing(self, thing: Any) -> Any:  # noqa: ANN401 - walks every kind of object
        """Return an object with all ids in it renamed."""
        kind = type(thing)
        if kind in _WITHOUT_IDS:
            return thing
        if kind is Ref:
            return Ref(self.number(thing.id))
        if kind is tuple:
            return tuple([self.thing(item) for item in thing])
        if kind is dict:
            return {key: self.thing(item) for key, item in thing.items()}
        if kind is Instance:
            return self._instance(thing)
        is_plain = kind is Tensor and thing.base is thing.grad is None and not (thing.nodes or thing.part)
        if is_plain and thing.device <= 0:
            return replace(thing, storage=self.number(thing.storage))
        changed = {name: self._field(name, getattr(thing, name)) for name in _fields(thing.__class__)}
        return replace(thing, **changed) if changed else thing

    def _instance(self, thing: Instance) -> Instance:
        attrs: dict[str, Value] = {}
        for name, value in thing.attrs.items():
            kind = type(value)
            if kind is Ref:
                attrs[name] = Ref(self.number(value.id))  # type: ignore[union-attr, arg-type]
            else:
                attrs[name] = value if kind in _WITHOUT_IDS else self.thing(value)
        children = None if thing.children is None else Ref(self.number(thing.children.id))
        return Instance(thing.cls, attrs, thing.opaque, children, thing.made, self.thing(thing.pending))

    def _field(self, name: str, part: Any) -> Any:  # noqa: ANN401 - walks every kind of object
        return self.number(part) if name in _NUMBERS else self.thing(part)


def links_of(thing: Any) -> list[Ref | Sym]:  # noqa: ANN401 - walks every kind of object
    """List the refs and unknown values in an object, at any depth; refs are not followed."""
    found: list[Ref | Sym] = []
    waiting = [thing]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Ref | Sym):
            found.append(part)
        elif type(part) in _WITHOUT_IDS or isinstance(part, Enum):
            continue
        elif isinstance(part, tuple):
            waiting.extend(part)
        elif isinstance(part, Mapping):
            waiting.extend(part.values())
        else:
            waiting.extend([getattr(part, name) for name in _fields(part.__class__)])
    return found


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a record; none for another class."""
    return kind.__struct_fields__ if issubclass(kind, Struct) else ()


def timeless(state: State, number: SymId, known: int) -> bool:
    """Check whether a symbol means the same at every moment: it is older, or was derived from such symbols only."""
    if number < known:
        return True
    key = state.symbols.keys[number]
    if not isinstance(key, tuple) or not key[0].timeless:
        return False
    parts = key[1:]
    if key[0].by_number and isinstance(key[1], int):
        parts = (Sym(SymId(key[1])), *key[2:])
    return all(_timeless_part(state, part, known) for part in parts)


def _timeless_part(state: State, part: object, known: int) -> bool:
    if isinstance(part, Sym):
        return timeless(state, part.id, known)
    if isinstance(part, tuple) and not isinstance(part, Ref):
        return all(_timeless_part(state, inner, known) for inner in part)
    return part is None or isinstance(part, Const | Dotted | ModuleValue | Imported | str | bool)
