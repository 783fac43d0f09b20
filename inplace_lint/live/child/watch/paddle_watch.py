"""
Watching Paddle: saves by the hooks of saved tensors, writes by wrapped calls, refusals by their errors.

Inside the hooks Paddle's own check of versions is off, so it is made here, as for PyTorch. There is no mode that sees
all calls: the functions of `_C_ops`, through which nearly all of Paddle's own Python goes, are wrapped, and with them
the methods of tensors that write without it. Writes through NumPy, DLPack or `get_tensor()` are not seen.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import sys
from types import FrameType, TracebackType
from typing import Any, Callable, Iterable, List, Optional, Tuple

from .ledger import Ledger, Memory, Save, Write, constructing
from .paddle_recompute import Recomputes
from .places import Places, Spot, described, returning

_STALE = (
    "(PermissionDenied) Tensor used in gradient computation has been modified by an inplace operation. "
    "Its version is {now} but the expected version is {then}."
)
_REFUSALS = (
    ("leaf", r"Leaf (Var|Tensor) .*can't use inplace strategy"),
    ("parameter", r"assignment to parameter '.*' should be of type Parameter or None"),
    ("shape", r"is different from that of inplace tensor"),
)
_KEYWORD = re.compile(r"(\w+?)(?:\.__init__)?\(\) got an unexpected keyword argument 'inplace'")
_NO_TENSOR = re.compile(r"'(?:float|int|bool)' object has no attribute")
_MIXED = "Type promotion only support"  # said of any call on two kinds of numbers, also of those that write nothing
# Calls whose names end like those of writers, but whose first argument is not written.
_OTHERS = re.compile(r"batch_norm_$|^fake_|^moving_average|^(share_data|nop|sync_calc_stream|coalesce_tensor)_$")
_OUTPUT_SECOND = "assign_out_"
_METHODS = ("__setitem__", "set_value", "copy_")
_NOWHERE = Spot(None)
_Shape = Tuple[int, Tuple[int, ...], Tuple[int, ...]]  # address, counts and steps in bytes, the last of one element


class PaddleWatch:
    """Watches from `start` until `stop`."""

    def __init__(self, paddle: Any, ledger: Ledger) -> None:
        self.paddle, self.ledger, self.tensor = paddle, ledger, paddle.Tensor
        folder = os.path.dirname(os.path.abspath(paddle.__file__))
        self.places = Places(folder, paddle.nn.Layer, paddle.optimizer.Optimizer)
        self._running: List[Tuple[str, List[Save]]] = []
        self._refused = ("", _NOWHERE)
        self._custom = paddle.autograd.PyLayerContext.save_for_backward.__code__
        self.snapshots = False
        self.recomputes = Recomputes(self)
        self._hooks = paddle.autograd.saved_tensors_hooks(self.pack, self.unpack)
        self._others = 0  # hooks of the program that are in place
        self._undo = contextlib.ExitStack()

    @staticmethod
    def is_supported(paddle: Any) -> bool:
        """Tell whether a release has all that watching needs."""
        parts = (getattr(paddle, "autograd", None), "saved_tensors_hooks"), (paddle, "_C_ops"), (paddle, "Tensor")
        return all(hasattr(part, name) for part, name in parts)

    def start(self) -> None:
        """Book saves and writes from here on."""
        layer, calls, tensor = self.paddle.nn.Layer, self.paddle._C_ops, self.paddle.Tensor
        self._replace(layer, "__init__", constructing(layer.__init__, self.ledger, self.places))
        for name in dir(calls):
            original = getattr(calls, name)
            if not name.startswith("_") and callable(original):
                writes = name.endswith("_") and not _OTHERS.search(name)
                self._replace(calls, name, self.wrapped(original, name, writes=writes))
        for name in _METHODS:
            self._replace(tensor, name, self.wrapped(getattr(tensor, name), name, writes=True))
        atexit.register(self.stop)  # the framework hangs when it is torn down with hooks in place
        self._undo.callback(atexit.unregister, self.stop)
        custom = self.paddle.autograd.PyLayer
        if "apply" not in vars(custom):  # it is inherited: without ours the framework's own is back
            custom.apply = self._applying(custom)
            self._undo.callback(delattr, custom, "apply")
        self._hook()
        self._undo.enter_context(self.recomputes.watched())

    def stop(self) -> None:
        """Leave the framework as it was; saves made before go on to be checked as the framework checks them."""
        self.ledger.close()
        self._undo.close()

    def _hook(self) -> None:
        """Put our hooks in place, and step aside for those of the program: only one pair is allowed at a time."""
        kind = self.paddle.autograd.saved_tensors_hooks
        enter, leave = kind.__enter__, kind.__exit__

        @functools.wraps(enter)
        def entered(hooks: Any) -> None:
            if not self._others:
                leave(self._hooks)
            own, hooks.pack_hook = hooks.pack_hook, self._also_told(hooks.pack_hook)
            try:
                enter(hooks)
                self._others += 1
            finally:
                hooks.pack_hook = own
                if not self._others:
                    enter(self._hooks)

        @functools.wraps(leave)
        def left(hooks: Any, *error: Any) -> None:
            leave(hooks, *error)
            self._others -= 1
            if not self._others:
                enter(self._hooks)

        enter(self._hooks)
        self._undo.callback(lambda: None if self._others else leave(self._hooks))
        self._replace(kind, "__enter__", entered)
        self._replace(kind, "__exit__", left)

    def _also_told(self, pack: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def hook(tensor: Any) -> Any:
            if self.recomputes.running:
                self.recomputes.saved(tensor)
            return pack(tensor)

        return hook

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        self._undo.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)

    def wrapped(self, original: Callable[..., Any], name: str, *, writes: bool) -> Callable[..., Any]:
        """Give a call of the framework again, with its writes booked and its refusals noted."""

        @functools.wraps(original)
        def call(*args: Any, **options: Any) -> Any:
            if not self.ledger.active:
                return original(*args, **options)
            target = options.get("out")
            if writes and args:
                target = args[1] if name == _OUTPUT_SECOND and len(args) > 1 else args[0]
            if self.recomputes.running:
                self.recomputes.reads(name, args, options, target)
            before, now = self.ledger.next(), self.ledger.next()
            if target is not None and self.ledger.memories:
                self._book(name, target, now, self.ledger.memories.values())
            self._running.append((name, []))
            try:
                result = original(*args, **options)
            except (ValueError, TypeError, RuntimeError, OSError) as error:
                check = "mixed" if target is not None and _MIXED in str(error) else check_of(error)
                self._refused = (check, self.places.spot(sys._getframe()))
                raise
            finally:
                saves = self._running.pop()[1]
            if self.recomputes.running:
                self.recomputes.made(result, target)
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
                    self._refused = (check_of(error), Spot(returning(layer.forward.__code__)))
                raise

        return classmethod(apply)

    def pack(self, tensor: Any) -> Save:
        """Book a save; what is given back is kept by the node instead of the tensor."""
        if self.snapshots and _address(tensor):
            copy = tensor.detach().clone()
            return Save(copy, copy.inplace_version, 0, _NOWHERE, None)
        address = _address(tensor) if self.ledger.active else 0
        if address and self.recomputes.running:
            self.recomputes.saved(tensor)
        if not address or self._is_recomputed(sys._getframe(1)):
            save = Save(tensor, tensor.inplace_version, 0, _NOWHERE, None)
            save.checked = not address
            return save
        memory = self.ledger.memory(address)
        spot = self.places.spot(sys._getframe(1))
        save = Save(tensor, tensor.inplace_version, self.ledger.next(), spot, memory)
        save.checked = sys._getframe(1).f_code is not self._custom
        memory.keep(save)
        if self._running:
            save.op = self._running[-1][0]
            self._running[-1][1].append(save)
        return save

    def _is_recomputed(self, caller: FrameType) -> bool:
        """Say whether an argument of a function is kept that will run again: what changes then is told of its calls."""
        return caller.f_code is self._custom and getattr(caller.f_back, "f_code", None) is self.recomputes.keeps

    def identity(self, value: Any) -> Optional[int]:
        """Identify the memory of a tensor; None for anything else."""
        return (_address(value) or None) if isinstance(value, self.tensor) else None

    def is_whole(self, tensor: Any) -> bool:
        """Say whether a tensor is no view; what starts where its memory starts counts as whole."""
        return self.identity(tensor) is not None

    def held(self, tensor: Any) -> Save:
        """Book a tensor as if a node had saved it."""
        memory = self.ledger.memory(_address(tensor))
        spot = self.places.spot(sys._getframe(1))
        save = Save(tensor, tensor.inplace_version, self.ledger.next(), spot, memory)
        memory.keep(save)
        return save

    def say_recomputed(self, save: Save, op: str, write: Write) -> None:
        """Tell that a function read something which was written before backward ran the function again."""
        fields = {
            "framework": "paddle",
            "save": self.ledger.touch(op, save.spot, writes=False),
            "write": self.ledger.touch(write.op, write.spot, writes=True, parameter=write.parameter),
            "backward": None,
        }
        self.ledger.say("recomputed", (write.spot.where, save.spot.where), fields)

    def unpack(self, save: Save) -> Any:
        """
        Compare versions, as the framework would, and look for writes that it does not count, or not compare.

        Raises: what the framework would, where nobody is listening or the write was not seen.
        """
        now = save.tensor.inplace_version
        moved = save.checked and now != save.version
        write = save.first(now) if moved else None
        if moved and (write is None or not self.ledger.active):
            raise RuntimeError(_STALE.format(now=now, then=save.version))
        if write is not None:
            self._say("stale", save, write)
        elif self.ledger.active:
            write = self.reached(save)
            if write is not None:
                self._say("untracked", save, write)
        return save.tensor

    def reached(self, save: Save) -> Optional[Write]:
        """Give the first write after a save that reached elements of what was saved, counted or not."""
        shape = _shape(save.tensor)
        return next((item for item in save.later() if _overlap(shape, item.shape)), None)

    def _settle(self, name: str, target: Any, saves: List[Save], numbers: Tuple[int, int]) -> None:
        """Put what a call saved before it wrote to the same memory in that order."""
        overtaken = [save for save in saves if save.memory and save.version != save.tensor.inplace_version]
        for save in overtaken:
            save.number = numbers[0]
        unbooked = [save.memory for save in overtaken if save.memory and not save.later()]
        if unbooked:
            self._book(name, target, numbers[1], unbooked)

    def _book(self, name: str, target: Any, number: int, memories: Iterable[Memory]) -> None:
        for tensor in target if isinstance(target, (list, tuple)) else (target,):
            if not isinstance(tensor, self.paddle.Tensor) or not _address(tensor):
                continue
            spot: Optional[Spot] = None
            for memory in list(memories):
                newest = memory.newest()
                if newest is None or not newest.tensor._is_shared_buffer_with(tensor):
                    continue
                spot = spot or self.places.spot(sys._getframe(1))
                parameter = bool(spot.step) or isinstance(tensor, self.paddle.base.framework.EagerParamBase)
                version = newest.tensor.inplace_version
                memory.add(Write(number, name, spot, version, _shape(tensor), parameter))

    def _say(self, kind: str, save: Save, write: Write) -> None:
        fields = {
            "framework": "paddle",
            "save": self.ledger.touch(save.op, save.spot, writes=False, part=self._part(save)),
            "write": self.ledger.touch(write.op, write.spot, writes=True, parameter=write.parameter),
            "backward": described(self.places.spot(sys._getframe(1), layers=False).where),
        }
        self.ledger.say(kind, (write.spot.where, save.spot.where, save.op), fields)

    def _part(self, save: Save) -> str:
        layer = save.spot.layer
        if layer is not None:
            owned = (*layer.named_parameters(include_sublayers=False), *layer.named_buffers(include_sublayers=False))
            for name, value in owned:
                if _address(value) == _address(save.tensor):
                    return f"self.{name}"
        return save.part

    def refusal(self, error: BaseException, trace: Optional[TracebackType]) -> None:
        """
        Book an error by which the framework refused a write, if it is one.

        What a hook on a gradient raises arrives without the hook's own frames: the refused call was noted.
        """
        # The last call that failed was a write, or else its check is not this one.
        check = "mixed" if _MIXED in str(error) and self._refused[0] == "mixed" else check_of(error)
        check = check or self._misused(error, trace)
        if check and trace is not None:
            spot = self._refused[1] if self._refused[0] == check else self.places.raised_at(trace)
            write = self.ledger.touch("", spot, writes=True, parameter=False)
            self.ledger.say("refused", (check, spot.where), {"framework": "paddle", "check": check, "write": write})

    def _misused(self, error: BaseException, trace: Optional[TracebackType]) -> str:
        """Name what a call of the framework does not take: `inplace`, or a plain number to write with."""
        unknown = _KEYWORD.search(str(error)) if isinstance(error, TypeError) else None
        if unknown is not None:
            owners = (self.paddle.nn, self.paddle.nn.functional, self.paddle)
            return "keyword" if any(hasattr(owner, unknown.group(1)) for owner in owners) else ""
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is None or not isinstance(error, AttributeError) or not _NO_TENSOR.search(str(error)):
            return ""
        code = trace.tb_frame.f_code
        is_theirs = code.co_filename.startswith(os.path.dirname(os.path.abspath(self.paddle.__file__)))
        return "operand" if is_theirs and code.co_name.endswith("_") else ""


def check_of(error: BaseException) -> str:
    """Name the check by which the framework refused a write; empty for any other error."""
    if not isinstance(error, (ValueError, TypeError, RuntimeError, OSError)):
        return ""
    return next((check for check, pattern in _REFUSALS if re.search(pattern, str(error), re.DOTALL)), "")


def _name_outputs(saves: List[Save], result: Any) -> None:
    """Mark those saves of a call that are its results."""
    if saves:
        results = result if isinstance(result, (list, tuple)) else (result,)
        addresses = {_address(item): at for at, item in enumerate(results) if hasattr(item, "inplace_version")}
        for save in saves:
            at = addresses.get(_address(save.tensor))
            if at is not None:
                save.part = f"result{at}"


def _address(tensor: Any) -> int:
    """Give the address of a tensor's first element; 0 without memory of its own."""
    return int(tensor.data_ptr()) if tensor.is_dense() and tensor._is_initialized() else 0


def _shape(tensor: Any) -> _Shape:
    size = int(tensor.element_size())
    return _address(tensor), (*tensor.shape, size), (*(stride * size for stride in tensor.strides), 1)


def _end(shape: _Shape) -> int:
    """Give the first address behind a stretch of memory."""
    if 0 in shape[1]:
        return shape[0]
    return shape[0] + 1 + sum((count - 1) * step for count, step in zip(*shape[1:]))  # noqa: B905 - Python 3.8


def _overlap(one: _Shape, other: _Shape) -> bool:
    """Tell whether two stretches of memory have a byte in common: spans first, then each byte."""
    if max(one[0], other[0]) >= min(_end(one), _end(other)):
        return False
    import numpy as np  # noqa: PLC0415 - the framework needs it, and it is there by now

    start = min(one[0], other[0])
    mask = np.zeros(max(_end(one), _end(other)) - start, dtype=bool)
    np.lib.stride_tricks.as_strided(mask[other[0] - start :], other[1], other[2])[...] = True
    return bool(np.lib.stride_tricks.as_strided(mask[one[0] - start :], one[1], one[2]).any())
