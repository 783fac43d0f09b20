"""
Measures what a form of a program is worth: whether its numbers are those of another form, and the memory that it uses.

One run keeps its numbers in a folder, and others are compared with them, trial by trial. The memory is counted in runs
of their own, which look at no numbers: looking takes memory, too. Hooks that see what is saved for backward keep the
framework from comparing versions, so that only a run without them shows whether backward raises.
"""

from __future__ import annotations

import gc
import math
import os
import weakref
from typing import Any, Dict, List, Optional

from .framework_adapter import FrameworkAdapter

_NO_NUMBERS = -1.0
_ROUNDED = 1e-6


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
        largest = max([float(one.abs().max()) for one in due if one.shape and min(one.shape)], default=0.0)
        return self._apart(mine, due) / (largest or 1.0)

    def _apart(self, mine: List[Any], due: List[Any]) -> float:
        """
        Return the largest difference between the tensors of two runs; infinite where they are not the same ones.

        Gradients come in the order of the graph, which a write can change: each tensor is compared with the one at its
        place and, should they differ by more than rounding, with the nearest of those that are left.
        """
        if [list(one.shape) for one in mine] == [list(one.shape) for one in due]:
            pairs = zip(mine, due)  # noqa: B905 - Python 3.8
            apart = max([self._distance(one, other) for one, other in pairs], default=0.0)
            if apart <= _ROUNDED:
                return apart
        apart = 0.0
        left = list(due)
        for one in mine:
            found = [(self._distance(one, other), at) for at, other in enumerate(left) if one.shape == other.shape]
            nearest, at = min(found, default=(float("inf"), -1))
            if at < 0:
                return float("inf")
            apart = max(apart, nearest)
            left.pop(at)
        return float("inf") if left else apart

    def _distance(self, one: Any, other: Any) -> float:
        """Return the largest difference of two numbers at one place; infinite where one of them is NaN."""
        same = (one == other) | ((one != one) & (other != other))  # noqa: PLR0124
        if bool(same.all()):
            return 0.0
        apart = (one - other).abs()
        largest = float(self._adapter.framework.where(same, self._adapter.framework.zeros_like(apart), apart).max())
        return float("inf") if math.isnan(largest) else largest

    def _pack(self, tensor: Any) -> _Held:
        held = _Held(tensor.detach())
        self._held.add(held)
        return held


class _Held:
    """A tensor as a node of the graph holds it."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
