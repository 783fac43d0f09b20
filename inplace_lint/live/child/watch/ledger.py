"""
The ledger of a watched program: which storages backward still needs, and which writes came to them since.

A framework compares the version of a tensor when it is saved with that when it is used. The ledger knows both, and
also where the program saved, and where it wrote to a storage that some save still needs:

    y = x.sigmoid()      # Save(version 0) of the storage of y
    y += 1               # Write(1) to that storage
    y.sum().backward()   # used at version 1: the first counted write after the save is the cause

A storage that nothing saved has no entry, and an entry ends with its last save: the ledger grows only with the graphs
that are alive.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from .places import Places, Spot, Where, described

_MOST_RECORDS = 2000
_MOST_WRITES = 64  # to one storage without a save in between: later ones are not the first after any save
Extent = Tuple[int, Tuple[int, ...], Tuple[int, ...]]  # where a tensor starts, its sizes and its strides


def stretch(one: Extent, other: Extent) -> Optional[Tuple[int, int]]:
    """Return the start and length of the memory around two tensors; None where the one ends before the other starts."""
    if max(one[0], other[0]) >= min(_end(one), _end(other)):
        return None
    start = min(one[0], other[0])
    return start, max(_end(one), _end(other)) - start


def _end(extent: Extent) -> int:
    """Return the first offset behind a tensor."""
    start, sizes, strides = extent
    if 0 in sizes:
        return start
    return start + 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))  # noqa: B905 - Python 3.8


class Write(NamedTuple):
    """
    One write to a storage that was saved.

    `version` is that of the newest save of the storage just before the write; `extent` is the part of the storage that
    was written, and `dtype` as what, where the framework counts in elements.
    """

    number: int
    op: str
    spot: Spot
    version: int
    extent: Extent
    dtype: Any
    parameter: bool


class Storage:
    """The memory of one or more tensors, at least one of which is still saved."""

    __slots__ = ("__weakref__", "_saves", "_unwritten", "since", "writes")

    def __init__(self) -> None:
        self.writes: List[Write] = []
        self.since = 0
        self._saves: List[weakref.ref[Save]] = []
        self._unwritten: List[weakref.ref[Save]] = []

    def keep(self, save: Save) -> None:
        """Add a save of this storage."""
        self.since = 0
        self.newest()  # drops those that have died
        self._saves.append(weakref.ref(save))
        self._unwritten.append(self._saves[-1])

    def first_written(self) -> List[Save]:
        """Return the living saves to which no write came since they were asked for last."""
        saves, self._unwritten = [one() for one in self._unwritten], []
        return [save for save in saves if save is not None]

    def living(self) -> List[Save]:
        """Return the saves that are still alive."""
        saves = [one() for one in self._saves]
        return [save for save in saves if save is not None]

    def newest(self) -> Optional[Save]:
        """Return the last save that is still alive."""
        while self._saves:
            save = self._saves[-1]()
            if save is not None:
                return save
            self._saves.pop()
        return None

    def add(self, write: Write) -> None:
        """Add a write, unless there are too many since the last save."""
        self.since += 1
        if self.since <= _MOST_WRITES:
            self.writes.append(write)


class Save:
    """
    A tensor that a node of the graph saved; it lives as long as the node.

    `op` and `part` are set where no node of the framework has the name. `own` is set where the op that saves the tensor
    also writes it; `checked` is false where the framework does not compare versions. `before` is a copy of what was
    saved, made when the first write comes; `undone` one from before a write that backward shall not see.
    """

    __slots__ = (
        "__weakref__",
        "before",
        "checked",
        "number",
        "op",
        "own",
        "part",
        "spot",
        "storage",
        "tensor",
        "undone",
        "version",
    )

    def __init__(self, tensor: Any, version: int, number: int, spot: Spot, storage: Optional[Storage]) -> None:
        self.tensor, self.version, self.number, self.spot, self.storage = tensor, version, number, spot, storage
        self.own, self.op, self.part, self.checked = False, "", "", True
        self.before: Any = None
        self.undone: Any = None

    def first_counted(self, current: int) -> Optional[Write]:
        """Return the first later write that raised the version, or the first later write if none is seen to."""
        later = self.later()
        for write, after in zip(later, [item.version for item in later[1:]] + [current]):  # noqa: B905 - Python 3.8
            if after > write.version:
                return write
        return later[0] if later else None

    def later(self) -> List[Write]:
        """Return all writes to the storage since this save."""
        return [] if self.storage is None else [write for write in self.storage.writes if write.number > self.number]


class Ledger:
    """
    Numbers saves and writes, and emits each record once per pair of places.

    It is silent after `close`, and in processes that were forked from the one that opened it.
    """

    def __init__(self, emit: Callable[[Dict[str, Any]], None]) -> None:
        self._emit = emit
        self._seen: Set[Tuple[Any, ...]] = set()
        self._number = 0
        self.storages: weakref.WeakValueDictionary[int, Storage] = weakref.WeakValueDictionary()
        self.active = True
        self._constructed: Dict[int, Tuple[weakref.ref[Any], Where]] = {}
        if hasattr(os, "register_at_fork"):
            mine = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _close(mine()))

    def close(self) -> None:
        """Record nothing from now on."""
        self.active = False

    def next_number(self) -> int:
        """Return the number of the next save or write."""
        self._number += 1
        return self._number

    def storage(self, identity: int) -> Storage:
        """Return the entry of a storage that is being saved."""
        found = self.storages.get(identity)
        if found is None:
            found = self.storages[identity] = Storage()
        return found

    def constructing(self, original: Callable[..., None], places: Places) -> Callable[..., None]:
        """Wrap the constructor of layers so that the ledger knows where each layer was constructed."""

        @functools.wraps(original)
        def construct(layer: Any, *args: Any, **options: Any) -> None:
            original(layer, *args, **options)
            where = places.spot(sys._getframe(1), layers=False).where if self.active else None
            if where is not None:
                key = id(layer)
                self._constructed[key] = (weakref.ref(layer, lambda _: self._constructed.pop(key, None)), where)

        return construct

    def construction(self, layer: Any) -> Optional[Where]:
        """Return the place where a layer was constructed, if that was seen."""
        found = self._constructed.get(id(layer)) if layer is not None else None
        return found[1] if found is not None and found[0]() is layer else None

    def report(self, kind: str, key: Tuple[Any, ...], fields: Dict[str, Any]) -> None:
        """Emit a record, unless one of the same kind and key was emitted before."""
        if self.active and (kind, *key) not in self._seen and len(self._seen) < _MOST_RECORDS:
            self._seen.add((kind, *key))
            self._emit({"kind": kind, **fields})

    def access(self, op: str, spot: Spot, *, writes: bool, **more: Any) -> Dict[str, Any]:
        """
        Return a save or a write as plain data.

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


def _close(ledger: Optional[Ledger]) -> None:
    if ledger is not None:
        ledger.close()
