"""
Templates of constructed objects, so that an equal construction is copied and not run again.

    blocks = [Block(dim, rate) for rate in rates]     # the first is constructed, the others are copies of it

A template holds what a construction put on the heap; a copy of it has ids of its own. There is a template only for a
construction that changed no older object, reported nothing and assumed nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any

from msgspec import Struct

from inplace_lint.domain.heap import Instance, ListObject, Names, Object, Storage, Tensor
from inplace_lint.domain.id_renaming import IdRenaming, links_of, timeless
from inplace_lint.domain.state import State
from inplace_lint.domain.traits import Owner, Trait
from inplace_lint.domain.values import ClassValue, Const, Dotted, Ref, RefId, StorageId, Sym


class Mark(Struct, frozen=True):
    """The point of a path at which a construction begins: later changes are compared with it."""

    start: int
    symbols: int
    lowest: int
    attached: object
    before: tuple[object, ...]


class Template(Struct, frozen=True):
    """What a construction created: ids above `start` are its own, all others belong to older objects."""

    start: int
    size: int
    value: Ref
    objects: tuple[tuple[RefId, Object], ...]
    storages: tuple[tuple[StorageId, Storage], ...]
    traits: tuple[tuple[Trait[Any, Any], Any, Any], ...]


def mark(state: State) -> Mark:
    """Return the point at which a construction begins."""
    before = (state.events, state.assumptions, state.modes)
    found = Mark(state.next_id, len(state.symbols.keys), state.lowest, state.attached, before)
    state.lowest = state.next_id + 1
    return found


def made_since(state: State, moment: Mark, value: Ref) -> Template | None:
    """Return a template of what was created for an object since a mark; None if anything else was changed."""
    start, untouched = moment.start, state.lowest > moment.start
    state.lowest = min(state.lowest, moment.lowest)
    if not untouched or (state.events, state.assumptions, state.modes) != moment.before:
        return None
    objects = _reached(state, value, moment)
    if objects is None:
        return None
    numbers = {thing.storage for thing in objects.values() if isinstance(thing, Tensor) and thing.storage > start}
    traits = _traits(state, moment, objects, numbers)
    if traits is None:
        return None
    storages = tuple((number, state.storages[number]) for number in sorted(numbers))
    return Template(start, state.next_id - start, value, tuple(objects.items()), storages, traits)


def _reached(state: State, value: Ref, moment: Mark) -> dict[RefId, Object] | None:
    """Collect the new objects reachable from one; None if they hold variables, history or one-time unknowns."""
    found: dict[RefId, Object] = {}
    waiting: list[Ref | Sym] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Sym):
            if part.kind != "number" and not timeless(state, part.id, moment.symbols):
                return None
            continue
        if part.id <= moment.start or part.id in found:
            continue
        thing = found[part.id] = state.heap[part.id]
        if isinstance(thing, Names) or (isinstance(thing, Tensor) and thing.nodes):
            return None
        waiting.extend(_links(thing))
    return found


def _links(thing: Object) -> list[Ref | Sym]:
    """List the refs and unknown values in an object."""
    found: list[Ref | Sym] = []
    if type(thing) is Instance:
        if thing.children is not None:
            found.append(thing.children)
        parts: Iterable[object] = thing.attrs.values() if thing.pending is None else (thing.pending, thing.attrs)
    elif type(thing) is Tensor:
        found.extend(ref for ref in (thing.base, thing.grad) if ref is not None)
        parts = (thing.part,) if thing.part else ()
    else:
        parts = thing.items if type(thing) is ListObject else (thing,)
    for part in parts:
        kind = type(part)
        if kind is Ref or kind is Sym:
            found.append(part)  # type: ignore[arg-type]
        elif kind is not Const and kind is not Dotted and kind is not ClassValue:
            found.extend(links_of(part))
    return found


def _traits(
    state: State, moment: Mark, objects: Container[int], storages: Container[int]
) -> tuple[tuple[Trait[Any, Any], Any, Any], ...] | None:
    """Return the traits of the created objects; None when a lasting trait of anything else was set."""
    found: list[tuple[Trait[Any, Any], Any, Any]] = []
    for trait, key, owner in _set_since(state, moment.attached):
        made_from = moment.symbols if trait.owner is Owner.SYMBOL else moment.start + 1
        if trait.owner is Owner.WHOLE or owner < made_from:
            return None
        if owner in (storages if trait.owner is Owner.STORAGE else objects) and trait.owner is not Owner.SYMBOL:
            found.append((trait, key, state.traits[trait, key]))
    return tuple(reversed(found))


def _set_since(state: State, attached: object) -> Iterator[tuple[Trait[Any, Any], Any, Any]]:
    """Yield the lasting traits that were set since a link of the chain, the last first, with keys and owners."""
    cell = state.attached
    while cell is not attached:
        assert isinstance(cell, tuple)
        (trait, key), cell = cell
        if trait.is_copied:
            yield trait, key, key[0] if type(key) is tuple else key


def sets_older(state: State, attached: object, made_from: int) -> bool:
    """Check whether a lasting trait was set since a link of the chain of what was made before an id."""
    return any(
        trait.owner not in (Owner.OBJECT, Owner.STORAGE) or owner < made_from
        for trait, _, owner in _set_since(state, attached)
    )


def make(state: State, template: Template) -> Ref:
    """Add a copy of a construction to the state and return the constructed object."""
    renaming = IdRenaming(template.start, state.next_id - template.start)
    for number, thing in template.objects:
        state.put(Ref(renaming.number(number)), renaming.thing(thing))
    for place, storage in template.storages:
        state.put_storage(renaming.number(place), renaming.thing(storage))
    for trait, key, value in template.traits:
        moved = (renaming.number(key[0]), *key[1:]) if type(key) is tuple else renaming.number(key)
        state.set_trait(trait, moved, renaming.thing(value))
    state.advance(template.size)
    return Ref(renaming.number(template.value.id))
