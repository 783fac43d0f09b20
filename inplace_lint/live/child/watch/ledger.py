"""
The books of a watched program: which memory backward still needs, and who wrote to it since.

A framework's own check compares the version of a tensor when it is saved and when it is used. The books hold both, and
besides them the place of each save, and of each write to memory that some save still needs:

    y = x.sigmoid()      # Save(version 0) of the memory of y
    y += 1               # Write(1) to that memory
    y.sum().backward()   # used at version 1: the first counted write after the save is the culprit

Memory that nothing saved has no entry, and an entry ends with its last save: books are as large as the graphs alive.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from .places import Places, Spot, Where, described

_MOST_RECORDS = 2000
_MOST_WRITES = 64  # to one memory without a save in between: later ones are not the first after any save


class Write(NamedTuple):
    """
    One write to memory that was saved.

    `version` is what the counter of the newest save of that memory said just before; `shape` where in the memory it
    wrote, in the framework's own terms.
    """

    number: int
    op: str
    spot: Spot
    version: int
    shape: Any
    parameter: bool


class Memory:
    """One storage that at least one live save needs."""

    __slots__ = ("__weakref__", "_saves", "since", "writes")

    def __init__(self) -> None:
        self.writes: List[Write] = []
        self.since = 0
        self._saves: List[weakref.ref[Save]] = []

    def keep(self, save: Save) -> None:
        """Note a save of this storage."""
        self.since = 0
        self.newest()  # drops those that have died
        self._saves.append(weakref.ref(save))

    def newest(self) -> Optional[Save]:
        """Give the last save that is still alive."""
        while self._saves:
            save = self._saves[-1]()
            if save is not None:
                return save
            self._saves.pop()
        return None

    def add(self, write: Write) -> None:
        """Book a write, unless too many stand there since the last save."""
        self.since += 1
        if self.since <= _MOST_WRITES:
            self.writes.append(write)


class Save:
    """
    A tensor that a node of the graph keeps; it lives as long as the node.

    `op` and `part` are set where the framework names no nodes; `own` where the op that saves the tensor writes it too,
    `checked` is false where the framework does not compare versions.
    """

    __slots__ = ("__weakref__", "checked", "memory", "number", "op", "own", "part", "spot", "tensor", "version")

    def __init__(self, tensor: Any, version: int, number: int, spot: Spot, memory: Optional[Memory]) -> None:
        self.tensor, self.version, self.number, self.spot, self.memory = tensor, version, number, spot, memory
        self.own, self.op, self.part, self.checked = False, "", "", True

    def first(self, current: int) -> Optional[Write]:
        """Give the first write after this save that moved the counter, or the first at all if none is seen to."""
        if self.memory is None:
            return None
        later = [write for write in self.memory.writes if write.number > self.number]
        for write, after in zip(later, [item.version for item in later[1:]] + [current]):  # noqa: B905 - Python 3.8
            if after > write.version:
                return write
        return later[0] if later else None

    def later(self) -> List[Write]:
        """Give all writes to the memory since this save."""
        return [] if self.memory is None else [write for write in self.memory.writes if write.number > self.number]


class Ledger:
    """
    Numbers saves and writes, and hands on what is found, each pair of places once.

    It is silent in processes that were forked from the one that opened it, and once `close` was called.
    """

    def __init__(self, emit: Callable[[Dict[str, Any]], None]) -> None:
        self._emit = emit
        self._seen: Set[Tuple[Any, ...]] = set()
        self._number = 0
        self.memories: weakref.WeakValueDictionary[int, Memory] = weakref.WeakValueDictionary()
        self.active = True
        self._built: Dict[int, Tuple[weakref.ref[Any], Where]] = {}
        if hasattr(os, "register_at_fork"):
            mine = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _close(mine()))

    def close(self) -> None:
        """Book nothing from now on."""
        self.active = False

    def next(self) -> int:
        """Give the number of the next save or write."""
        self._number += 1
        return self._number

    def memory(self, identity: int) -> Memory:
        """Give the entry of a storage that is being saved."""
        found = self.memories.get(identity)
        if found is None:
            found = self.memories[identity] = Memory()
        return found

    def built(self, layer: Any, where: Optional[Where]) -> None:
        """Remember where a layer was constructed, as long as the layer lives."""
        if where is not None:
            key = id(layer)
            self._built[key] = (weakref.ref(layer, lambda _: self._built.pop(key, None)), where)

    def construction(self, layer: Any) -> Optional[Where]:
        """Give the place where a layer was constructed, if that was seen."""
        found = self._built.get(id(layer)) if layer is not None else None
        return found[1] if found is not None and found[0]() is layer else None

    def say(self, kind: str, key: Tuple[Any, ...], fields: Dict[str, Any]) -> None:
        """Hand on a record, unless one of the same kind and key went out before."""
        if self.active and (kind, *key) not in self._seen and len(self._seen) < _MOST_RECORDS:
            self._seen.add((kind, *key))
            self._emit({"kind": kind, **fields})

    def touch(self, op: str, spot: Spot, *, writes: bool, **more: Any) -> Dict[str, Any]:
        """
        Describe a save or a write as plain data.

        `flag` is where a layer was constructed that writes because of its `inplace` attribute; `built` where the layer
        was constructed that a container of the framework ran.
        """
        built = self.construction(spot.layer)
        is_flagged = writes and any(getattr(spot.layer, name, False) is True for name in ("inplace", "_inplace"))
        return {
            "op": op,
            "at": described(spot.where),
            "layer": type(spot.layer).__name__ if spot.layer is not None else "",
            "flag": described(built) if is_flagged else None,
            "built": described(built) if spot.depth > 1 else None,
            "step": spot.step,
            **more,
        }


def constructing(original: Callable[..., None], ledger: Ledger, places: Places) -> Callable[..., None]:
    """Give the constructor of layers again, with a note of where each layer was constructed."""

    @functools.wraps(original)
    def construct(layer: Any, *args: Any, **options: Any) -> None:
        original(layer, *args, **options)
        if ledger.active:
            ledger.built(layer, places.spot(sys._getframe(1), layers=False).where)

    return construct


def _close(ledger: Optional[Ledger]) -> None:
    if ledger is not None:
        ledger.close()
