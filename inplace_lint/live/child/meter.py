"""
Measures what a form of a program is worth: whether its numbers are those of another form, and the memory that it uses.

One run keeps its numbers in a folder, and others are compared with them, trial by trial. The memory is counted in runs
of their own, which look at no numbers: looking takes memory, too. Hooks that see what is saved for backward keep the
framework from comparing versions, so that only a run without them shows whether backward raises.
"""

from __future__ import annotations

import gc
import os
import weakref
from typing import Any, Dict, List, Optional

from .framework_adapter import FrameworkAdapter

_NO_NUMBERS = -1.0


class Meter:
    """
    The numbers and the memory of each trial of one job, in order.

    `folder` holds the numbers of the trials of the first run. `counts`: this run counts memory.
    """

    def __init__(self, adapter: FrameworkAdapter, folder: str, *, counts: bool) -> None:
        self._adapter, self._folder, self._counts = adapter, folder, counts
        self._held: "weakref.WeakSet[_Held]" = weakref.WeakSet()
        self._kept = self._trial = self._base = 0

    def start(self) -> None:
        """Measure from here on."""
        adapter = self._adapter
        adapter.is_real = True  # what has no memory has no numbers
        adapter.meter = self
        if self._counts:
            adapter.begin_peak()
            adapter.saved_tensors_hooks(self._pack, lambda held: held.tensor).__enter__()
        else:
            adapter.values = []

    def begin(self) -> None:
        """Another trial begins."""
        if self._adapter.values:
            self._adapter.values.clear()
        self._kept = 0
        if self._counts:
            gc.collect()
            self._base = self._adapter.begin_peak()

    def backward_begins(self) -> None:
        """Note what is kept for a backward."""
        sizes = [self._adapter.storage_of(held.tensor) for held in list(self._held)]
        self._kept = max(self._kept, sum(dict(sizes).values()))

    def record(self, error: Optional[str], ran: List[int]) -> Dict[str, Any]:
        """
        Return what was measured of the trial that ends, as plain data.

        `apart` is the largest difference of a number to that of the first run, relative to the largest number there;
        negative where there was nothing to compare with.
        """
        self._trial += 1
        apart = _NO_NUMBERS if self._counts or error is not None else self._compared()
        peak = self._adapter.peak() - self._base if self._counts else 0
        return {
            "kind": "measured", "error": error, "ran": ran, "apart": apart, "kept": self._kept, "peak": peak,
        }  # fmt: skip

    def _compared(self) -> float:
        path = os.path.join(self._folder, str(self._trial))
        mine, framework = self._adapter.values or [], self._adapter.framework
        if not os.path.exists(path):
            framework.save(mine, path)
            return _NO_NUMBERS
        due = framework.load(path)
        if [list(one.shape) for one in mine] != [list(one.shape) for one in due]:
            return float("inf")
        largest = max([float(one.abs().max()) for one in due if one.shape and min(one.shape)], default=0.0)
        pairs = zip(mine, due)  # noqa: B905 - Python 3.8
        apart = [float((one - other).abs().max()) for one, other in pairs if not _is_same(one, other)]
        return max(apart, default=0.0) / (largest or 1.0)

    def _pack(self, tensor: Any) -> _Held:
        held = _Held(tensor.detach())
        self._held.add(held)
        return held


class _Held:
    """A tensor as a node of the graph holds it."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def _is_same(one: Any, other: Any) -> bool:
    """Check whether two tensors are equal, with NaN equal to itself."""
    return bool(((one == other) | ((one != one) & (other != other))).all())  # noqa: PLR0124
