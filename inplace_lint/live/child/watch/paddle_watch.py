"""
Watching Paddle: saves by the hooks of saved tensors, writes by wrapped calls, refusals by their errors.

There is no mode that sees all calls: the functions of `_C_ops`, through which nearly all of Paddle's own Python goes,
are wrapped, and with them the methods of tensors that write without it. Writes through NumPy, DLPack or `get_tensor()`
are not seen.
"""

from __future__ import annotations

import atexit
import functools
import os
import re
import sys
from types import FrameType, TracebackType
from typing import Any, Callable, Iterable, Iterator, List, Optional, Tuple

from .framework_watch import NOWHERE, FrameworkWatch
from .ledger import Extent, Ledger, Save, Storage, Write, stretch
from .paddle_recompute import Recomputes
from .places import Spot, returning
from .recomputation import items_of

_REFUSALS = (
    ("leaf", r"(?s)Leaf (Var|Tensor) .*can't use inplace strategy"),
    ("parameter", r"(?s)assignment to parameter '.*' should be of type Parameter or None"),
    ("freed", r"calculate backward twice for the same subgraph"),
    ("shape", r"is different from that of inplace tensor"),
)
_KEYWORD = re.compile(r"(\w+?)(?:\.__init__)?\(\) got an unexpected keyword argument 'inplace'")
_NO_TENSOR = re.compile(r"'(?:float|int|bool)' object has no attribute")
_MIXED = "Type promotion only support"  # said of any call on two kinds of numbers, also of those that write nothing
# Calls whose names end like those of writers, but whose first argument is not written.
_OTHERS = re.compile(r"batch_norm_$|^fake_|^moving_average|^(share_data|nop|sync_calc_stream|coalesce_tensor)_$")
_OUTPUT_SECOND = frozenset({"assign_out_", "where_"})
_METHODS = ("__setitem__", "set_value", "copy_")


def calls_of(paddle: Any) -> Iterator[Tuple[Any, str]]:
    """Return the owners and names of the calls through which Paddle reads and writes tensors."""
    for name in dir(paddle._C_ops):
        if not name.startswith("_") and callable(getattr(paddle._C_ops, name)):
            yield paddle._C_ops, name
    yield from ((paddle.Tensor, name) for name in _METHODS)


class PaddleWatch(FrameworkWatch):
    """Watches from `start` until `stop`."""

    name = "paddle"
    stale = (
        "(PermissionDenied) Tensor used in gradient computation has been modified by an inplace operation. "
        "Its version is {now} but the expected version is {then}."
    )
    refusals = _REFUSALS
    errors = (ValueError, TypeError, RuntimeError, OSError, SystemError)

    def __init__(self, paddle: Any, ledger: Ledger) -> None:
        super().__init__(paddle, ledger, paddle.nn.Layer, paddle.optimizer.Optimizer)
        self._running: List[Tuple[str, List[Save]]] = []
        self._refused = ("", NOWHERE)
        self._custom = paddle.autograd.PyLayerContext.save_for_backward.__code__
        self.recomputation = Recomputes(self)
        self._hooks = paddle.autograd.saved_tensors_hooks(self.pack, self.unpack)
        self._others = 0  # hooks of the program that are in place

    @staticmethod
    def is_supported(framework: Any) -> bool:
        """Check whether a release has all that watching needs."""
        hooks = getattr(framework, "autograd", None), "saved_tensors_hooks"
        return all(hasattr(part, name) for part, name in (hooks, (framework, "_C_ops"), (framework, "Tensor")))

    def start(self) -> None:
        """Record saves and writes from here on."""
        super().start()
        for owner, name in list(calls_of(self.framework)):
            writes = owner is self.tensor or (name.endswith("_") and not _OTHERS.search(name))
            self.patches.replace(owner, name, self.wrapped(getattr(owner, name), name, writes=writes))
        atexit.register(self.stop)  # the framework hangs when it is torn down with hooks in place
        self.patches.callback(atexit.unregister, self.stop)
        custom = self.framework.autograd.PyLayer
        if "apply" not in vars(custom):  # it is inherited: without ours the framework's own is back
            self.patches.replace(custom, "apply", self._applying(custom))
        self._hook()
        self.recomputation.patch(self.patches)

    def engines(self) -> List[Tuple[Any, str]]:
        """Return the functions that run backward."""
        return [(self.tensor, "backward"), (self.framework.autograd, "backward"), (self.framework, "grad")]

    def _hook(self) -> None:
        """Put our hooks in place, and step aside for those of the program: only one pair is allowed at a time."""
        kind = self.framework.autograd.saved_tensors_hooks
        enter, leave = kind.__enter__, kind.__exit__

        @functools.wraps(enter)
        def entered(hooks: Any) -> None:
            if not self._others:
                leave(self._hooks)
            own = hooks.pack_hook, hooks.unpack_hook
            hooks.pack_hook, hooks.unpack_hook = self.recomputation.hooks(*own)
            try:
                enter(hooks)
                self._others += 1
            finally:
                hooks.pack_hook, hooks.unpack_hook = own
                if not self._others:
                    enter(self._hooks)

        @functools.wraps(leave)
        def left(hooks: Any, *error: Any) -> None:
            leave(hooks, *error)
            self._others -= 1
            if not self._others:
                enter(self._hooks)

        enter(self._hooks)
        self.patches.callback(lambda: None if self._others else leave(self._hooks))
        self.patches.replace(kind, "__enter__", entered)
        self.patches.replace(kind, "__exit__", left)

    def wrapped(self, original: Callable[..., Any], name: str, *, writes: bool) -> Callable[..., Any]:
        """Wrap a call of the framework, so that its writes are recorded and its refusals noted."""

        @functools.wraps(original)
        def call(*args: Any, **options: Any) -> Any:
            if not self.ledger.active:
                return original(*args, **options)
            target = options.get("out")
            if writes and args:
                target = args[1] if name in _OUTPUT_SECOND and len(args) > 1 else args[0]
            if self.recomputation.running:
                self.recomputation.reads(name, args, options, target)
            before, now = self.ledger.next_number(), self.ledger.next_number()
            if target is not None and self.ledger.storages:
                self._add(name, target, now, self.ledger.storages.values())
            self._running.append((name, []))
            try:
                result = original(*args, **options)
            except self.errors as error:
                check = "mixed" if target is not None and _MIXED in str(error) else self.check_of(error)
                self._refused = (check, self.places.spot(sys._getframe()))
                raise
            finally:
                saves = self._running.pop()[1]
            if self.recomputation.running:
                self.recomputation.made(result, target)
            _name_outputs(saves, result)
            if target is not None and saves:
                self._settle(name, target, saves, (before, now))
            return result

        return call

    def _applying(self, custom: Any) -> Any:
        """Note the `return` of a custom layer where what it returns is refused: it counts as written there."""

        def apply(layer: Any, *args: Any, **options: Any) -> Any:
            try:
                return super(custom, layer).apply(*args, **options)  # type: ignore[misc]
            except ValueError as error:
                if f"{layer.__name__} : Leaf" in str(error):
                    self._refused = (self.check_of(error), Spot(returning(layer.forward.__code__)))
                raise

        return classmethod(apply)

    def pack(self, tensor: Any) -> Save:
        """Record a save; the node keeps what is returned instead of the tensor."""
        address = _address(tensor)
        is_recorded = bool(address) and self.ledger.active
        if is_recorded and self.recomputation.running:
            self.recomputation.saved(tensor)
        caller = sys._getframe(1)
        if not is_recorded or self._is_recomputed(caller):
            save = self.unrecorded(tensor)
            save.checked = not is_recorded
            return save
        # A node that kept its own output would never be freed; what a custom layer asks for is given back as it was.
        is_custom = caller.f_code is self._custom
        save = self.save(tensor if is_custom else tensor.detach())
        save.checked = not is_custom
        if self._running:
            save.op = self._running[-1][0]
            self._running[-1][1].append(save)
        return save

    def _is_recomputed(self, caller: FrameType) -> bool:
        """Check for an argument of a function that will run again: its calls are followed then."""
        return caller.f_code is self._custom and getattr(caller.f_back, "f_code", None) is self.recomputation.keeps

    def version(self, tensor: Any) -> int:
        """Return the version of a tensor."""
        return int(tensor.inplace_version)

    def storage_of(self, value: Any) -> Optional[int]:
        """Identify the storage of a tensor by the address of its first element; None for anything else."""
        return (_address(value) or None) if isinstance(value, self.tensor) else None

    def is_whole(self, tensor: Any) -> bool:
        """Check whether a tensor is no view; what starts where its storage starts counts as whole."""
        return self.storage_of(tensor) is not None

    def reached(self, save: Save) -> Optional[Write]:
        """Return the first write after a save that reached elements of what was saved, counted or not."""
        own = _extent(save.tensor)
        return next((write for write in save.later() if _overlap(own, write.extent)), None)

    def op_of(self, save: Save) -> str:
        """Name the call that saved: Paddle does not name the node whose backward runs."""
        return save.op

    def _settle(self, name: str, target: Any, saves: List[Save], numbers: Tuple[int, int]) -> None:
        """Put what a call saved before it wrote to the same storage in that order."""
        overtaken = [save for save in saves if save.storage and save.version != save.tensor.inplace_version]
        for save in overtaken:
            save.number = numbers[0]
        unrecorded = [save.storage for save in overtaken if save.storage and not save.later()]
        if unrecorded:
            self._add(name, target, numbers[1], unrecorded)

    def _add(self, name: str, target: Any, number: int, storages: Iterable[Storage]) -> None:
        """Add a write to those storages that it reaches."""
        for tensor in items_of(target):
            if self.storage_of(tensor) is None:
                continue
            spot: Optional[Spot] = None
            for storage in list(storages):
                newest = storage.newest()
                if newest is None or not newest.tensor._is_shared_buffer_with(tensor):
                    continue
                spot = spot or self.places.spot(sys._getframe(1))
                parameter = bool(spot.step) or isinstance(tensor, self.framework.base.framework.EagerParamBase)
                version = self.version(newest.tensor)
                self.add(storage, Write(number, name, spot, version, _extent(tensor), None, parameter))

    def copied(self, tensor: Any) -> Any:
        """Return a copy of a tensor without its history."""
        return tensor.detach().clone()

    def has_values(self, tensor: Any, values: Any) -> bool:
        """Check whether a tensor has the values of another one; those that are no numbers count as equal."""
        return bool(tensor.numpy().tobytes() == values.numpy().tobytes())

    def refused(self, error: BaseException, trace: TracebackType) -> Tuple[str, Optional[Spot], bool]:
        """Name the check, and the call that was refused: an error of a hook on a gradient comes without its frames."""
        known, spot = self._refused  # the last call that failed was a write, or its check is not this one
        check = "mixed" if _MIXED in str(error) and known == "mixed" else self.check_of(error)
        check = check or self._misused(error, trace)
        return check, spot if known == check else None, False

    def _misused(self, error: BaseException, trace: TracebackType) -> str:
        """Name what a call of the framework does not take: `inplace`, or a plain number to write with."""
        unknown = _KEYWORD.search(str(error)) if isinstance(error, TypeError) else None
        if unknown is not None:
            owners = (self.framework.nn, self.framework.nn.functional, self.framework)
            return "keyword" if any(hasattr(owner, unknown.group(1)) for owner in owners) else ""
        if not isinstance(error, AttributeError) or not _NO_TENSOR.search(str(error)):
            return ""
        while trace.tb_next is not None:
            trace = trace.tb_next
        code = trace.tb_frame.f_code
        is_theirs = code.co_filename.startswith(os.path.dirname(os.path.abspath(self.framework.__file__)))
        return "operand" if is_theirs and code.co_name.endswith("_") else ""


def _name_outputs(saves: List[Save], result: Any) -> None:
    """Mark those saves of a call that are its results."""
    if saves:
        results = enumerate(items_of(result))
        addresses = {_address(item): at for at, item in results if hasattr(item, "inplace_version")}
        for save in saves:
            at = addresses.get(_address(save.tensor))
            if at is not None:
                save.part = f"result{at}"


def _address(tensor: Any) -> int:
    """Return the address of a tensor's first element; 0 without a storage of its own."""
    return int(tensor.data_ptr()) if tensor.is_dense() and tensor._is_initialized() else 0


def _extent(tensor: Any) -> Extent:
    """Return where in memory a tensor is, in bytes: the last axis is that of one element."""
    size = int(tensor.element_size())
    return _address(tensor), (*tensor.shape, size), (*(stride * size for stride in tensor.strides), 1)


def _overlap(one: Extent, other: Extent) -> bool:
    """Check whether two tensors have a byte in common: spans first, then each byte."""
    around = stretch(one, other)
    if around is None:
        return False
    import numpy as np  # noqa: PLC0415 - the framework needs it, and it is there by now

    start, length = around
    mask = np.zeros(length, dtype=bool)
    np.lib.stride_tricks.as_strided(mask[other[0] - start :], other[1], other[2])[...] = True
    return bool(np.lib.stride_tricks.as_strided(mask[one[0] - start :], one[1], one[2]).any())
