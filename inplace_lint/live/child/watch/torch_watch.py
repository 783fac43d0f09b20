"""
Watching PyTorch: saves by the hooks of saved tensors, writes by a dispatch mode, refusals by their errors.

Inside the hooks PyTorch's own check of versions is off, so it is made here. Where it fails that is booked and the
program goes on, with what is in the memory now; a training that would have stopped shows its further faults as well.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import os
import re
import sys
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Tuple

from .ledger import Ledger, Memory, Save, Write, constructing
from .places import Places, Spot, described
from .torch_checkpoint import Checkpoints
from .torch_compile import watched
from .torch_mode import watching_mode, written_by

_STALE = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "is at version {now}; expected version {then} instead"
)
_REFUSALS = (
    ("leaf_view", r"a view of a leaf Variable that requires grad is being used in an in-place operation"),
    ("leaf", r"a leaf Variable that requires grad (is being|has been) used in an in-place operation"),
    ("hooked_view", r"Output \d+ of BackwardHookFunction\w* is a view and is being modified inplace"),
    ("custom_view", r"This view was created inside a custom Function"),
    ("multi_view_base", r"is a view and its base or another view of its base has been modified inplace"),
    ("multi_view", r"is the output of a function that returns multiple views"),
    ("no_grad_view", r"A view was created in no_grad mode and is being modified inplace with grad mode enabled"),
    ("no_grad_view_base", r"A view was created in no_grad mode and its base or another view of its base has been mod"),
    ("inference_view", r"A view was created in inference mode and is being modified inplace in normal mode"),
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
    ("flag", r"you can only change requires_grad flags of leaf variables"),
)
_MODIFIED = re.compile(r"its base or another view of its base has been modified inplace")
_NOWHERE = Spot(None)
_ENGINE = "_engine_run_backward"
_LISTS, _SETTER = "aten::_foreach_", "aten::set_"
_RECENT = 1000  # writes that are remembered for errors that come after the write


class TorchWatch:
    """Watches the thread that calls `start`, and those started from then on, until `stop`."""

    def __init__(self, torch: Any, ledger: Ledger) -> None:
        self.torch, self.ledger, self.tensor = torch, ledger, torch.Tensor
        folder = os.path.dirname(os.path.abspath(torch.__file__))
        self.places = Places(folder, torch.nn.Module, torch.optim.Optimizer)
        self._pending: List[Save] = []
        self._local = threading.local()
        self._recent: Deque[Tuple[int, Spot]] = collections.deque(maxlen=_RECENT)
        self._given: Deque[Tuple[weakref.ref[Any], Spot]] = collections.deque(maxlen=_RECENT)
        self._written: Dict[Any, Tuple[Tuple[int, str], ...]] = {}
        self._forgets = False
        self.snapshots = False
        self.checkpoints = Checkpoints(self)
        self._undo = contextlib.ExitStack()

    @staticmethod
    def is_supported(torch: Any) -> bool:
        """Tell whether a release has all that watching needs."""
        graph = getattr(getattr(torch, "autograd", None), "graph", None)
        native, tensor = getattr(torch, "_C", None), getattr(torch, "Tensor", None)
        parts = (graph, "increment_version"), (native, "_current_autograd_node"), (tensor, "untyped_storage")
        return all(hasattr(part, name) for part, name in parts)

    def start(self) -> None:
        """Book saves and writes from here on."""
        module, graph = self.torch.nn.Module, self.torch.autograd.graph
        self._undo.callback(setattr, module, "__init__", module.__init__)
        module.__init__ = constructing(module.__init__, self.ledger, self.places)
        self._undo.callback(setattr, graph, "disable_saved_tensors_hooks", graph.disable_saved_tensors_hooks)
        graph.disable_saved_tensors_hooks = self._disabling(graph.disable_saved_tensors_hooks)
        function = self.torch.autograd.Function
        self._undo.callback(setattr, function, "apply", vars(function)["apply"])
        function.apply = self._applying(function.apply.__func__)
        thread = threading.Thread
        self._undo.callback(setattr, thread, "start", thread.start)
        thread.start = self._starting(thread.start)  # type: ignore[method-assign, assignment]
        for context in (*self._contexts(), watched(self.torch, self.ledger), self.checkpoints.watched()):
            self._undo.enter_context(context)
        # Under a mode some releases do not count what calls on lists of tensors write; whether this one does is tried.
        probe = self.torch.zeros(1, device="cpu")
        self.torch._foreach_add_([probe], 1)
        self._forgets = probe._version == 0

    def stop(self) -> None:
        """Leave the framework as it was; saves made before go on to be checked as the framework checks them."""
        self.ledger.close()
        self._undo.close()

    def _contexts(self) -> Tuple[Any, ...]:
        hooks = self.torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack)
        return hooks, watching_mode(self.torch, self)

    def _starting(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        """Watch what a new thread runs; hooks and modes must be gone before it ends, or the process may be aborted."""

        @functools.wraps(original)
        def start(thread: Any) -> None:
            run = thread.run

            def watched() -> None:
                del thread.run
                with contextlib.ExitStack() as stack:
                    for context in self._contexts() if self.ledger.active else ():
                        stack.enter_context(context)
                    run()

            thread.run = watched
            original(thread)

        return start

    def _disabling(self, original: Callable[[str], Any]) -> Callable[[str], Any]:
        """Take our hooks off where the framework runs something that no hooks may see (function transforms)."""

        @contextlib.contextmanager
        def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
            native = self.torch._C._autograd
            top = native._top_saved_tensors_default_hooks(True)
            is_ours = top is not None and top[0] == self.pack
            if is_ours:
                native._pop_saved_tensors_default_hooks()
            try:
                with original(error_message):
                    yield
            finally:
                if is_ours:
                    native._push_saved_tensors_default_hooks(self.pack, self.unpack)

        return disable_saved_tensors_hooks

    def _applying(self, original: Callable[..., Any]) -> Any:
        """Look at tensors that a custom function keeps as attributes of its context: nobody else checks them."""

        @functools.wraps(original)
        def apply(function: Any, *args: Any, **options: Any) -> Any:
            result = original(function, *args, **options)
            first = result[0] if isinstance(result, tuple) and result else result
            node = getattr(first, "grad_fn", None) if self.ledger.active else None
            kept = [value for value in getattr(node, "__dict__", {}).values() if isinstance(value, self.torch.Tensor)]
            if node is not None and kept:
                saves = [self.pack(value) for value in kept]
                node.register_prehook(lambda _: self._use(node.name(), saves))
            return result

        return classmethod(apply)

    def _use(self, name: str, saves: List[Save]) -> None:
        """Book writes to what a custom function kept by itself."""
        for save in saves:
            write = self.reached(save)
            if write is not None and self.ledger.active:
                self._say("untracked", save, write, name, "attribute")

    def pack(self, tensor: Any) -> Save:
        """Book a save; what is given back is kept by the node instead of the tensor."""
        if self.snapshots:
            with self.torch.utils._python_dispatch._disable_current_modes(), self.torch.no_grad():
                copy = tensor.detach().clone()
            return Save(copy, _version(copy), 0, _NOWHERE, None)
        identity = _storage(tensor) if self.ledger.active else None
        if identity is None:
            return Save(tensor, _version(tensor), 0, _NOWHERE, None)
        memory = self.ledger.memory(identity)
        save = Save(tensor, _version(tensor), self.ledger.next(), self.places.spot(sys._getframe(1)), memory)
        memory.keep(save)
        self._pending.append(save)
        return save

    def unpack(self, save: Save) -> Any:
        """
        Compare versions, as the framework would, and look for writes that it does not count.

        Raises: what the framework would, where nobody is listening or the write was not seen.
        """
        asked = getattr(self._local, "asked", None)
        if asked is not None:
            asked.append(save)  # `_part` reads the attributes of the node
            return save.tensor
        now = _version(save.tensor)
        write = save.first(now) if now != save.version else None
        if now != save.version and (write is None or not self.ledger.active):
            raise RuntimeError(_STALE.format(now=now, then=save.version))
        if write is not None:
            self._say("stale", save, write)
        elif self.ledger.active and not save.own:
            write = self.reached(save)
            if write is not None:
                self._say("untracked", save, write)
        return save.tensor

    def identity(self, value: Any) -> Optional[int]:
        """Identify the memory of a tensor; None for anything else."""
        return _storage(value) if isinstance(value, self.torch.Tensor) else None

    def is_whole(self, tensor: Any) -> bool:
        """Say whether a tensor is no view."""
        return tensor._base is None

    def held(self, tensor: Any) -> Save:
        """Book a tensor as if a node had saved it."""
        memory = self.ledger.memory(int(tensor.untyped_storage()._cdata))
        save = Save(tensor, _version(tensor), self.ledger.next(), self.places.spot(sys._getframe(1)), memory)
        memory.keep(save)
        return save

    def say_recomputed(self, save: Save, op: str, write: Write) -> None:
        """Tell that a function read something which was written before backward ran the function again."""
        name = op.strip("_").title().replace("_", "")
        fields = {
            "framework": "torch",
            "save": self.ledger.touch(f"{name}Backward0", save.spot, writes=False),
            "write": self.ledger.touch(write.op, write.spot, writes=True, parameter=write.parameter),
            "backward": None,
        }
        self.ledger.say("recomputed", (write.spot.where, save.spot.where), fields)

    def reached(self, save: Save) -> Optional[Write]:
        """Give the first write after a save that reached elements of what was saved, counted or not."""
        return next((item for item in save.later() if self._overlaps(save.tensor, item.shape)), None)

    def wrote(self, func: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> List[Any]:
        """
        Book the arguments that a call is about to write, where they are memory that some save needs.

        What is given back are tensors whose versions the call would count, were there no mode.
        """
        uncounted: List[Any] = []
        written = self._writes_of(func, args)
        if self.checkpoints.running:
            self.checkpoints.calls(func, args, kwargs, written)
        if written and self.ledger.active:
            spot: Optional[Spot] = None
            for at, name in written:
                value = args[at] if at < len(args) else kwargs.get(name)
                for tensor in value if isinstance(value, (list, tuple)) else (value,):
                    identity = _storage(tensor) if isinstance(tensor, self.torch.Tensor) else None
                    if identity is not None:
                        spot = spot or self.places.spot(sys._getframe(1))
                        self._recent.append((identity, spot._replace(layer=None)))  # keeps no model alive
                        self._book(func, tensor, self.ledger.memories.get(identity), spot)
            if self._forgets and written and func._schema.name.startswith(_LISTS):
                uncounted = [item for at, _ in written for item in args[at] if not item.is_inference()]
        if self._pending:
            self._pending = []
        return uncounted

    def _writes_of(self, func: Any, args: Tuple[Any, ...]) -> Tuple[Tuple[int, str], ...]:
        written = self._written.get(func)
        if written is None:
            written = self._written[func] = written_by(func)
        if written and written[-1][1] == "training":
            return written[:-1] if args[written[-1][0]] else ()
        return written

    def _book(self, func: Any, tensor: Any, memory: Optional[Memory], spot: Spot) -> None:
        if func._schema.name == _SETTER:
            self._given.append((weakref.ref(tensor), spot._replace(layer=None)))
        newest = memory.newest() if memory is not None else None
        if memory is None or newest is None:
            return
        for save in self._pending:  # what the op that saves it writes as well is kept for its version alone
            save.own |= save.memory is memory and save.spot.where == spot.where
        owner = tensor if tensor._base is None else tensor._base
        is_parameter = bool(spot.step) or isinstance(owner, self.torch.nn.Parameter)
        shape = (tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)
        memory.add(Write(self.ledger.next(), str(func), spot, _version(newest.tensor), shape, is_parameter))

    def _overlaps(self, saved: Any, shape: Any) -> bool:
        """Tell whether a write reached elements of what was saved: spans first, then each element."""
        offset, size, stride, dtype = shape
        if dtype != saved.dtype:
            return True
        own = (saved.storage_offset(), tuple(saved.shape), tuple(saved.stride()))
        first, last = max(own[0], offset), min(_end(*own), _end(offset, size, stride))
        if first >= last:
            return False
        start = min(own[0], offset)
        with self.torch.utils._python_dispatch._disable_current_modes(), self.torch.no_grad():
            mask = self.torch.zeros(max(_end(*own), _end(offset, size, stride)) - start, dtype=self.torch.bool)
            self.torch.as_strided(mask, size, stride, offset - start).fill_(True)
            return bool(self.torch.as_strided(mask, own[1], own[2], own[0] - start).any())

    def _say(self, kind: str, save: Save, write: Write, name: str = "", part: str = "") -> None:
        node = self.torch._C._current_autograd_node() if not name else None
        name = node.name() if node is not None else name
        part = part or self._part(node, save)
        fields = {
            "framework": "torch",
            "save": self.ledger.touch(name, save.spot, writes=False, part=part),
            "write": self.ledger.touch(write.op, write.spot, writes=True, parameter=write.parameter),
            "backward": described(self.places.spot(sys._getframe(1), layers=False).where),
        }
        self.ledger.say(kind, (write.spot.where, save.spot.where, name), fields)

    def _part(self, node: Any, save: Save) -> str:
        """Name what a node kept: `self.weight` of its layer, or the node's own name for it (`result`, `other`)."""
        layer = save.spot.layer
        if layer is not None:
            owned = (*layer.named_parameters(recurse=False), *layer.named_buffers(recurse=False))
            for name, value in owned:
                if _storage(value) == _storage(save.tensor):
                    return f"self.{name}"
        caller = sys._getframe(2).f_back  # who called `unpack`; nobody in a thread of a device
        if caller is not None and caller.f_code.co_name != _ENGINE:
            return ""  # a checkpoint asks on behalf of a node, and reading the node would run it again
        names = [name for name in dir(node) if name.startswith("_saved_") and hasattr(node, "_raw" + name)]
        return next((name[len("_saved_") :] for name in names if save in self._kept(node, name)), "")

    def _kept(self, node: Any, name: str) -> List[Save]:
        """Give what a node keeps under a name: reading it asks `unpack` for it."""
        asked: List[Save] = []
        self._local.asked = asked
        try:
            getattr(node, name)
        finally:
            self._local.asked = None
        return asked

    def refusal(self, error: BaseException, trace: Optional[TracebackType]) -> None:
        """Book an error by which the framework refused a write, if it is one."""
        check = check_of(error)
        if check and trace is not None:
            spot = self.places.raised_at(trace)
            if _MODIFIED.search(str(error)):
                spot = self._writer(trace) or spot
            elif check == "no_derivative":
                spot = self._giver() or spot
            write = self.ledger.touch("", spot, writes=True, parameter=False)
            self.ledger.say("refused", (check, spot.where), {"framework": "torch", "check": check, "write": write})

    def _giver(self) -> Optional[Spot]:
        """Find the call that gave a tensor other memory, and a history without a derivative: the last that did."""
        nodes = ((getattr(reference(), "grad_fn", None), spot) for reference, spot in reversed(self._given))
        return next((spot for node, spot in nodes if node is not None and node.name().endswith("NotImplemented")), None)

    def _writer(self, trace: Optional[TracebackType]) -> Optional[Spot]:
        """Find the write that made a view unusable: the view is a local of a frame, and has no history to give."""
        while trace is not None:
            for value in list(trace.tb_frame.f_locals.values()):
                if isinstance(value, self.torch.Tensor) and _is_refused(value):
                    identity = _storage(value)
                    return next((spot for memory, spot in reversed(self._recent) if memory == identity), None)
            trace = trace.tb_next
        return None


def check_of(error: BaseException) -> str:
    """Name the check by which the framework refused a write; empty for any other error."""
    if not isinstance(error, RuntimeError):
        return ""
    return next((check for check, pattern in _REFUSALS if re.search(pattern, str(error))), "")


def _is_refused(tensor: Any) -> bool:
    try:
        tensor.grad_fn  # noqa: B018 - reading it brings the history up to date, or raises
    except RuntimeError:
        return True
    return False


def _end(offset: int, size: Tuple[int, ...], stride: Tuple[int, ...]) -> int:
    """Give the first offset behind a stretch of memory."""
    if 0 in size:
        return offset
    return offset + 1 + sum((count - 1) * step for count, step in zip(size, stride))  # noqa: B905 - Python 3.8


def _storage(tensor: Any) -> Optional[int]:
    """Identify the memory of a tensor; None where there is no such thing (sparse tensors, those of transforms)."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return None


def _version(tensor: Any) -> int:
    return 0 if tensor.is_inference() else int(tensor._version)
