"""
Sees whether the places of a finding run, and whether a backward runs through them.

The watches report what breaks. That nothing broke says little by itself: the place may not have been reached, or no
backward may have run. A `Mark` is a finding's places; for each the witness notes in which order a save's call, the
write and the backward through them happened. A run speaks against a finding only if it did save, write and go back
in this order, in training, and still nothing broke.
"""

from __future__ import annotations

import functools
import os
import sys
from types import FrameType
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, Optional, Sequence, Set, Tuple

from ..attempt import attempt
from ..framework_adapter import FrameworkAdapter
from . import torch_mode
from .ledger import Ledger
from .paddle_watch import calls_of
from .places import Places, Spot, Where, described
from .recomputation import items_of

Range = Tuple[str, int, int, int]  # file, first line, last line, column in bytes behind the last character
_MOST_HOOKS = 16


class Mark:
    """
    One finding: where it writes, where it saves, and what was seen of that.

    Units: moments are counted from 1; 0 where something has not happened.
    """

    def __init__(self, number: int, writes: List[Range], saves: List[Range]) -> None:
        self.number, self.writes, self.saves = number, writes, saves
        self.forget()

    def forget(self) -> None:
        """Forget what was seen."""
        self.saved = [0] * len(self.saves)  # when the call at a save ran first
        self.written = 0  # when the write ran first after all saves
        self.passed = [0] * len(self.saves)  # when a backward ran last through the call at a save
        self.through = 0  # when a backward ran last through what was written
        self.ran = False
        self.tracked = False  # whether what is written has a history
        self.hooks = 0

    def record(self) -> Dict[str, Any]:
        """Return what was seen, as plain data: `ran`, and whether the run speaks against the finding."""
        in_order = bool(self.written) and all(0 < at < self.written for at in self.saved)
        back = all(at > self.written for at in self.passed) and (self.through > self.written or not self.tracked)
        is_complete = in_order and back and (self.tracked or bool(self.saves))
        return {"kind": "mark", "number": self.number, "ran": self.ran, "complete": is_complete}


class Witness:
    """Watches the marks of one job."""

    def __init__(self, adapter: FrameworkAdapter, marks: List[Mark]) -> None:
        self._adapter, self.marks = adapter, marks
        folder = os.path.dirname(os.path.abspath(adapter.framework.__file__))
        self.places = Places(folder, adapter.layer, adapter.optimizer)
        self._ledger = Ledger(lambda _: None)
        self._moment = 0
        self._hits: Dict[Where, FrozenSet[Tuple[int, str, int]]] = {}
        self._pending: List[Tuple[Any, Callable[[], None], Mark]] = []
        self._written: Dict[Any, torch_mode.Written] = {}
        self._files = {place[0] for mark in marks for place in (*mark.writes, *mark.saves)}

    def start(self) -> None:
        """Watch the calls of the framework until the process ends."""
        layer, framework = self._adapter.layer, self._adapter.framework
        layer.__init__ = self._ledger.constructing(layer.__init__, self.places)
        if self._adapter.is_torch:
            torch_mode.mode(framework, self._call).__enter__()
            return
        for owner, name in list(calls_of(framework)):
            writes = owner is framework.Tensor or name.endswith("_")
            setattr(owner, name, self._wrapped(getattr(owner, name), writes=writes))

    def expect(self, marks: List[Mark]) -> None:
        """Watch for these marks from here on, in a copy of the process too; what was seen of the same ones stays."""
        self._ledger.active = True
        known = {mark.number: mark for mark in self.marks}
        self.marks = [known.get(mark.number, mark) for mark in marks]
        self._files = {place[0] for mark in self.marks for place in (*mark.writes, *mark.saves)}
        self._hits = {}

    def writes_at(self, spot: Spot) -> bool:
        """Check whether a spot is where a mark writes."""
        return any(role == "write" for _, role, _ in self._hits_of(spot))

    def begin(self) -> None:
        """Forget what was seen of the marks: another run begins."""
        self._pending = []
        for mark in self.marks:
            mark.forget()

    def _wrapped(self, original: Callable[..., Any], *, writes: bool) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(*args: Any, **options: Any) -> Any:
            return self._seen(lambda: original(*args, **options), list(args[:1]) if writes else [])

        return call

    def _call(self, func: Any, args: Sequence[Any], options: Dict[str, Any]) -> Any:
        """Make a call of PyTorch, and see what it writes."""
        written = self._written.get(func)
        if written is None:
            written = self._written[func] = torch_mode.declared(func)
        targets = [torch_mode.value_at(args, options, at, name) for at, name in written]
        return self._seen(lambda: func(*args, **options), [one for value in targets for one in items_of(value)])

    def _seen(self, call: Callable[[], Any], written: List[Any]) -> Any:
        """Run a call of the framework that writes these tensors, and note which marks it belongs to."""
        self._hook()
        frame = sys._getframe(2)
        spot = self.places.spot(frame)
        hits = self._hits_of(spot)
        if not hits or not _in_training(frame, spot):
            return call()
        result = call()
        self._moment += 1
        for number, role, at in hits:
            mark = self.marks[number]
            if role == "save":
                mark.saved[at] = mark.saved[at] or self._moment
                self._await(mark, _tensors(result), functools.partial(self._passed, mark, at))
            elif written:
                self._write(mark, written)
        return result

    def _write(self, mark: Mark, written: List[Any]) -> None:
        mark.ran = True
        if not mark.written and all(0 < at < self._moment for at in mark.saved):
            mark.written = self._moment
        self._await(mark, _tensors(written), functools.partial(self._went, mark))

    def _passed(self, mark: Mark, at: int) -> None:
        self._moment += 1
        mark.passed[at] = self._moment

    def _went(self, mark: Mark) -> None:
        self._moment += 1
        mark.through = self._moment

    def _await(self, mark: Mark, tensors: Iterable[Any], then: Callable[[], None]) -> None:
        """Call `then` when a gradient comes to one of the tensors; they have no history before the call ends."""
        for tensor in tensors:
            if mark.hooks < _MOST_HOOKS:
                mark.hooks += 1
                self._pending.append((tensor, then, mark))

    def _hook(self) -> None:
        """Hook the tensors of calls that have ended."""
        if self._pending:
            pending, self._pending = self._pending, []
            for tensor, then, mark in pending:
                attempt(
                    functools.partial(self._watch, tensor, then, mark)
                )  # a view that was overwritten has no history

    def _watch(self, tensor: Any, then: Callable[[], None], mark: Mark) -> None:
        if self._adapter.requires_grad(tensor):
            mark.tracked = mark.tracked or not tensor.is_leaf
            tensor.register_hook(_hooked(then))

    def _hits_of(self, spot: Spot) -> FrozenSet[Tuple[int, str, int]]:
        found: Set[Tuple[int, str, int]] = set()
        for where in (spot.where, self._ledger.construction(spot.layer)):
            if where is not None:
                known = self._hits.get(where)
                if known is None:
                    known = self._hits[where] = self._looked_up(where)
                found |= known
        return frozenset(found)

    def _looked_up(self, where: Where) -> FrozenSet[Tuple[int, str, int]]:
        if os.path.abspath(where.code.co_filename) not in self._files:
            return frozenset()
        place = described(where) or {}
        own = (place["path"], place["line"], place["end_line"] or place["line"], place["end_column"])
        found = set()
        for number, mark in enumerate(self.marks):
            found |= {(number, "write", 0) for item in mark.writes if _meet(item, own)}
            found |= {(number, "save", at) for at, item in enumerate(mark.saves) if _is_at(item, own)}
        return frozenset(found)


def _meet(one: Range, other: Tuple[str, int, int, Optional[int]]) -> bool:
    return one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2]


def _is_at(save: Range, own: Tuple[str, int, int, Optional[int]]) -> bool:
    """
    Check whether an instruction is the call of a save: an argument of it on the same line runs before it.

    Before Python 3.11 that cannot be known, nor the order of what runs there: it is no save then.
    """
    return save[0] == own[0] and (save[2], save[3]) == (own[2], own[3])


def _hooked(then: Callable[[], None]) -> Callable[[Any], None]:
    def hook(_gradient: Any) -> None:
        then()

    return hook


def _tensors(value: Any) -> List[Any]:
    return [item for item in items_of(value) if hasattr(item, "register_hook") and hasattr(item, "shape")]


def _in_training(frame: Optional[FrameType], spot: Spot) -> bool:
    """Check whether the module whose method runs at a spot is in training, as far as there is one."""
    while frame is not None and spot.where is not None and frame.f_code is not spot.where.code:
        frame = frame.f_back
    owner = frame.f_locals.get("self") if frame is not None else None
    return getattr(owner, "training", True) is not False and getattr(spot.layer, "training", True) is not False
