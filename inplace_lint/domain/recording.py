"""
What a call did to a state, and how to do the same to another.

A recording is the list of things that changed, over the ids of the run that made it. Replaying it writes the same
things with the ids of another state: arguments get the arguments' ids, what was new gets new ids, clocks move on.

    def block(c): return Sequential(Conv(c, c), ReLU())
    a = block(8)      # run: 12 objects are made
    b = block(8)      # replayed: 12 objects are made again, with ids of their own

Only calls are recorded that write no memory of before, report nothing and assume nothing: what depends on the caller's
saves and versions is always run.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from inplace_lint.domain.heap import Instance, Names, Save, Tensor, View, Write
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Const, Dotted, Imported, ModuleValue, Ref, Sym, Value
from inplace_lint.event import Site
from inplace_lint.span import Place

# Symbols whose keys say all that they depend on: the same in every run. All others stand for one moment of one run.
_TIMELESS = frozenset(
    {
        "attr",
        "binary",
        "compare",
        "global",
        "in",
        "isinstance",
        "isnone",
        "item",
        "math",
        "not",
        "param",
        "shape",
        "stdlib",
        "unary",
        "untrue",
    }
)
# What a state makes once, when it is first asked for: another state makes its own.
_MADE_WHEN_ASKED = frozenset({"class", "method", "module", "ran"})
_WITHOUT_IDS: frozenset[type] = frozenset(
    {Const, Dotted, ModuleValue, Imported, ClassValue, Sym, str, bool, int, float, Place, View, frozenset, type(None)}
)
_BY_NUMBER = frozenset({"not", "isnone", "attr"})


class NotRecordable(Exception):  # noqa: N818 - no error: a reason to run the call again next time
    """A call did something that cannot be replayed elsewhere."""


@dataclass(frozen=True, slots=True)
class PathRecord:
    """One way through a call: what it asked and learned of conditions, what it changed, what it returned."""

    asked: tuple[tuple[Hashable, bool | None], ...]
    learned: tuple[tuple[Hashable, bool], ...]
    changes: tuple[tuple[str, Hashable, Any], ...]
    value: Value
    size: int
    ticks: int


@dataclass(frozen=True, slots=True)
class Recording:
    """All ways through a call, with the ids and the clock that it started from."""

    arguments: tuple[int, ...]
    start: int
    clock: int
    site: Site
    paths: tuple[PathRecord, ...]


def record_path(
    state: State, value: Value, log: list[tuple[str, Hashable]], arguments: frozenset[int], start: int, clock: int
) -> PathRecord:
    """
    Give the record of one path from what was logged on it.

    Raises: `NotRecordable` when something of before was changed or remembered.
    """
    asked: dict[Hashable, bool | None] = {}
    learned: dict[Hashable, bool] = {}
    touched: dict[tuple[str, Hashable], None] = {}
    for table, key in log:
        if table == "asked":
            assert isinstance(key, tuple)
            if key[0] not in learned:
                asked.setdefault(key[0], key[1])
        elif table == "facts":
            known = state.facts.get(key)
            if known is None or known.value is None:
                raise NotRecordable
            learned[key] = bool(known.value)
        else:
            touched[table, key] = None
    changes = [_change(state, table, key, arguments, start) for table, key in touched]
    kept = _needed(value, [change for change in changes if change is not None], arguments)
    checker = _Checker(arguments, start)
    checker.check(value)
    for _, _, thing in kept:
        checker.check(thing)
    return PathRecord(
        tuple(asked.items()), tuple(learned.items()), tuple(kept), value, state.next_id - start, state.clock - clock
    )


def _change(
    state: State, table: str, key: Hashable, arguments: frozenset[int], start: int
) -> tuple[str, Hashable, Any] | None:
    if table == "heap":
        assert isinstance(key, int)
        if key <= start and key not in arguments:
            raise NotRecordable
        return table, key, state.heap[key]
    if table in {"storages", "nodes"}:
        assert isinstance(key, int)
        if key <= start:
            raise NotRecordable
        return table, key, state.storages[key] if table == "storages" else state.nodes[key]
    if table == "bindings" and isinstance(key, tuple) and key[0] in _MADE_WHEN_ASKED:
        return None
    if table == "bindings" and isinstance(key, tuple) and len(key) > 1 and isinstance(key[1], int):
        if key[0] in {"tensor", "attribute", "kept", "kept in"} or key[1] <= start:
            raise NotRecordable
        return table, key, state.bindings[key]
    raise NotRecordable


def _needed(
    value: Value, changes: list[tuple[str, Hashable, Any]], arguments: frozenset[int]
) -> list[tuple[str, Hashable, Any]]:
    """Leave out what nothing can reach any more: the variables of calls that have returned."""
    heap = {key: thing for table, key, thing in changes if table == "heap"}
    reached: set[int] = set()
    waiting: list[Any] = [value, *(thing for key, thing in heap.items() if key in arguments)]
    waiting.extend(thing for table, _, thing in changes if table == "bindings")
    while waiting:
        for ref in _refs(waiting.pop()):
            if ref.id not in reached:
                reached.add(ref.id)
                if ref.id in heap:
                    waiting.append(heap[ref.id])
    return [change for change in changes if change[0] != "heap" or change[1] in reached or change[1] in arguments]


def _refs(thing: Any) -> list[Ref]:  # noqa: ANN401 - walks every kind of object
    found: list[Ref] = []
    waiting = [thing]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Ref):
            found.append(part)
        elif isinstance(
            part, Const | Dotted | ModuleValue | Imported | ClassValue | str | int | Enum | Place | Site | None
        ):
            continue
        elif isinstance(part, tuple | frozenset):
            waiting.extend(part)
        elif isinstance(part, Mapping):
            waiting.extend(part.values())
        elif is_dataclass(part):
            waiting.extend(getattr(part, item.name) for item in fields(part))
    return found


class _Checker:
    """Makes sure that what is recorded speaks of the call's arguments and of new things only."""

    def __init__(self, arguments: frozenset[int], start: int) -> None:
        self.arguments, self.start = arguments, start

    def check(self, thing: Any) -> None:  # noqa: ANN401 - walks every kind of object
        """Raise `NotRecordable` for anything that belongs to one state only."""
        for ref in _refs(thing):
            if ref.id <= self.start and ref.id not in self.arguments:
                raise NotRecordable
        if isinstance(thing, Names):
            raise NotRecordable


class Renumbering:
    """Translates recorded objects into the ids, the clock and the call site of another state."""

    def __init__(self, recording: Recording, arguments: tuple[int, ...], state: State, site: Site) -> None:
        self.ids = dict(zip(recording.arguments, arguments, strict=True))
        self.start, self.shift = recording.start, state.next_id - recording.start
        self.ticks = state.clock - recording.clock
        self.old_site, self.new_site = recording.site, site
        self.sites: dict[int, Site] = {}

    def number(self, number: int) -> int:
        """Give the id that stands for a recorded one."""
        found = self.ids.get(number)
        return found if found is not None else number + self.shift

    def site(self, site: Site) -> Site:
        """Give the site with the call stack of the new call."""
        known = self.sites.get(id(site))
        if known is None:
            if site is self.old_site or site.caller is None:
                known = self.new_site if site is self.old_site else site
            else:
                known = Site(site.place, self.site(site.caller))
            self.sites[id(site)] = known
        return known

    def thing(self, thing: Any) -> Any:  # noqa: ANN401 - walks every kind of object
        """Give an object with everything in it translated."""
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
        if kind is Tensor and thing.base is None and not thing.nodes and thing.made is None and thing.grad is None:
            return _moved(thing, self.number(thing.storage))
        if kind is Site:
            return self.site(thing)
        if not is_dataclass(thing):
            return thing
        changed = {item.name: self._field(item.name, getattr(thing, item.name)) for item in fields(thing)}
        made = replace(thing, **changed)  # type: ignore[type-var]
        if isinstance(made, Save | Write):
            return replace(made, clock=made.clock + self.ticks)
        return made

    def _instance(self, thing: Instance) -> Instance:
        attrs: dict[str, Value] = {}
        for name, value in thing.attrs.items():
            kind = type(value)
            if kind is Ref:
                attrs[name] = Ref(self.number(value.id))  # type: ignore[union-attr]
            else:
                attrs[name] = value if kind in _WITHOUT_IDS else self.thing(value)
        children = None if thing.children is None else Ref(self.number(thing.children.id))
        return Instance(thing.cls, attrs, thing.opaque, children, thing.made, self.thing(thing.pending))

    def _field(self, name: str, part: Any) -> Any:  # noqa: ANN401 - walks every kind of object
        if name == "storage" and isinstance(part, int):
            return self.number(part)
        if name in {"nodes", "inputs"} and isinstance(part, tuple):
            return tuple(self.number(number) for number in part)
        return self.thing(part)


def _moved(tensor: Tensor, storage: int) -> Tensor:
    """Give a tensor without a history, on another storage."""
    return Tensor(
        storage,
        tensor.rg,
        tensor.leaf,
        (),
        None,
        tensor.view,
        tensor.dtype,
        tensor.rank,
        tensor.contiguous,
        tensor.inference,
        tensor.counted,
        tensor.param,
        tensor.sure,
        tensor.why,
        tensor.framework,
        tensor.doubt,
        part=tensor.part,
    )


def replay(recording: Recording, path: PathRecord, arguments: tuple[int, ...], state: State, site: Site) -> Value:
    """Do to a state what a recorded path did, and give what it returned."""
    renumbering = Renumbering(recording, arguments, state, site)
    for table, key, thing in path.changes:
        translated = renumbering.thing(thing)
        if table == "heap":
            assert isinstance(key, int)
            state.put(Ref(renumbering.number(key)), translated)
        elif table == "storages":
            assert isinstance(key, int)
            state.restore_storage(renumbering.number(key), translated)
        elif table == "nodes":
            assert isinstance(key, int)
            state.restore_node(renumbering.number(key), translated)
        else:
            assert isinstance(key, tuple)
            state.attach((key[0], renumbering.number(key[1]), *key[2:]), translated)
    state.advance(path.size, path.ticks)
    for condition, side in path.learned:
        state.learn(condition, side)
    value: Value = renumbering.thing(path.value)
    return value


def timeless(state: State, number: int, known: int) -> bool:
    """Say whether a symbol means the same in every run: it was there before the call, or is made of such ones only."""
    if number < known:
        return True
    key = state.symbols.keys[number]
    if not isinstance(key, tuple) or key[0] not in _TIMELESS:
        return False
    parts = key[1:]
    if key[0] in _BY_NUMBER and isinstance(key[1], int):
        parts = (Sym(key[1]), *key[2:])
    return all(_timeless_part(state, part, known) for part in parts)


def _timeless_part(state: State, part: object, known: int) -> bool:
    if isinstance(part, Sym):
        return timeless(state, part.id, known)
    if isinstance(part, tuple) and not isinstance(part, Ref):
        return all(_timeless_part(state, inner, known) for inner in part)
    return part is None or isinstance(part, Const | Dotted | ModuleValue | Imported | str | bool)
