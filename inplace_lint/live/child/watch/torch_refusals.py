"""
What PyTorch says when it refuses a write, and which write it means where it says so later.

Most refusals come from the write itself. Some come from a later use of a view whose base was written, and some from
backward, which carries out a write to a view once more, on memory of the same layout:

    h = (x * 1).expand(4, 4)
    h[h > 0.5] = 0.0         # carried out; its node is a `CopySlices`, whose number is the next one before the write
    h.sum().backward()       # refused in that node
"""

from __future__ import annotations

import collections
import re
import weakref
from types import TracebackType
from typing import Any, Callable, Deque, Optional, Tuple

from .framework_watch import NOWHERE
from .places import Spot

REFUSALS = (
    ("leaf_view", r"a view of a leaf Variable that requires grad is being used in an in-place operation"),
    ("leaf", r"a leaf Variable that requires grad (is being|has been) used in an in-place operation"),
    ("hooked_view", r"Output \d+ of BackwardHookFunction\w* is a view and is being modified inplace"),
    ("custom_view_base", r"another view of its base has been modified inplace. This view was created inside a custom"),
    ("custom_view", r"This view was created inside a custom Function"),
    ("multi_view_base", r"is a view and its base or another view of its base has been modified inplace"),
    ("multi_view", r"is the output of a function that returns multiple views"),
    ("no_grad_view", r"created in no_grad mode and is being modified inplace with grad mode enabled"),
    (
        "no_grad_view_base",
        r"created in no_grad mode and its base or another view of its base has been modified inplace",
    ),
    ("inference_view", r"created in inference mode and is being modified inplace in normal mode"),
    ("inference", r"Inplace update to inference tensor outside InferenceMode is not allowed"),
    ("inference_save", r"Inference tensors cannot be saved for backward"),
    ("overlap", r"more than one element of the written-to tensor refers to a single memory location"),
    ("operands_overlap", r"some elements of the input tensor and the written-to tensor refer to a single memory"),
    ("cast", r"result type \w+ can't be cast to the desired output type"),
    ("shape", r"output with shape .* doesn't match the broadcast shape"),
    ("out_grad", r"functions with out=\.\.\. arguments don't support automatic differentiation"),
    ("dirty", r"Some elements marked as dirty during the forward method were not returned as output"),
    ("resize", r"cannot resize variables that require grad"),
    ("no_derivative", r"derivative for set_ is not implemented"),
    ("detach_view", r"Can't detach views in-place"),
    ("batched", r"vmap: .*\(self, \*extra_args\) is not possible because there exists a Tensor"),
    ("captured", r"attempted to call in-place operation .* that would mutate a captured Tensor"),
    ("freed", r"Trying to backward through the graph a second time"),
    ("flag", r"you can only change requires_grad flags of leaf variables"),
)
ENGINE = "_engine_run_backward"
_NODE = "CopySlices"
_OF_BASE = re.compile(r"its base or another view of its base has been modified inplace")
_MOST = 1000  # writes that are remembered for errors that come after the write


class RecentWrites:
    """Remembers the last writes, and keeps nothing alive by that."""

    def __init__(self, torch: Any, storage_of: Callable[[Any], Optional[int]]) -> None:
        self._torch, self._storage_of = torch, storage_of
        self._next_node: Callable[[], int] = getattr(torch.autograd, "_get_sequence_nr", lambda: -1)
        self._writes: Deque[Tuple[int, int, Spot]] = collections.deque(maxlen=_MOST)
        self._given: Deque[Tuple[weakref.ref[Any], Spot]] = collections.deque(maxlen=_MOST)
        self._failed: Tuple[str, Optional[Spot]] = ("", None)

    def add(self, storage: int, spot: Spot) -> None:
        """Remember a write that is about to happen."""
        self._writes.append((storage, self._next_node(), spot._replace(layer=None)))

    def give(self, tensor: Any, spot: Spot) -> None:
        """Remember that a tensor is about to get another storage."""
        self._given.append((weakref.ref(tensor), spot._replace(layer=None)))

    def failing(self, error: BaseException) -> None:
        """Remember which write a node repeats whose backward raises now."""
        node = self._torch._C._current_autograd_node()
        number = node._sequence_nr() if node is not None and node.name().endswith(_NODE) else None
        found = (spot for _, following, spot in reversed(self._writes) if following == number)
        self._failed = str(error), next(found, None)

    def refused(self, check: str, error: BaseException, trace: TracebackType, at: Spot) -> Spot:
        """Return the write that an error raised at a spot is about: nowhere where that is not known."""
        text, repeated = self._failed
        if _OF_BASE.search(str(error)):
            found = self._of_view(trace)
        elif check == "no_derivative":
            found = self._giver()
        elif check == "freed" or _is_from_backward(trace, at):
            found = repeated if text == str(error) else None
        else:
            return at
        return found or NOWHERE

    def _giver(self) -> Optional[Spot]:
        """Find the last call that gave a tensor another storage, and a history without a derivative."""
        nodes = ((getattr(reference(), "grad_fn", None), spot) for reference, spot in reversed(self._given))
        return next((spot for node, spot in nodes if node is not None and node.name().endswith("NotImplemented")), None)

    def _of_view(self, trace: Optional[TracebackType]) -> Optional[Spot]:
        """Find the write that made a view unusable: the view is a local of a frame, and has no history to give."""
        while trace is not None:
            for value in list(trace.tb_frame.f_locals.values()):
                if isinstance(value, self._torch.Tensor) and _is_refused(value):
                    identity = self._storage_of(value)
                    return next((spot for storage, _, spot in reversed(self._writes) if storage == identity), None)
            trace = trace.tb_next
        return None


def _is_from_backward(trace: Optional[TracebackType], at: Spot) -> bool:
    """Check whether an error comes from backward itself, and not from a line of the program that backward runs."""
    is_inside = False
    while trace is not None:
        code = trace.tb_frame.f_code
        is_inside = code.co_name == ENGINE or (is_inside and (at.where is None or code is not at.where.code))
        trace = trace.tb_next
    return is_inside


def _is_refused(tensor: Any) -> bool:
    try:
        tensor.grad_fn  # noqa: B018 - reading it brings the history up to date, or raises
    except RuntimeError:
        return True
    return False
