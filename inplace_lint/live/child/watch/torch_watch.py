"""Watching PyTorch: saves by the hooks of saved tensors, writes by a dispatch mode, refusals by their errors."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import torch_compile, torch_overlap
from .framework_watch import FrameworkWatch
from .ledger import Extent, Ledger, Save, Storage, Write, stretch
from .places import Spot, is_within
from .recomputation import items_of
from .torch_checkpoint import Checkpoints
from .torch_mode import Written, mode, value_at, written_by
from .torch_refusals import ENGINE, REFUSALS, RecentWrites

_LISTS, _SETTER = "aten::_foreach_", "aten::set_"


class TorchWatch(FrameworkWatch):
    """Watches the thread that calls `start`, and those started from then on, until `stop`."""

    name = "torch"
    stale = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "is at version {now}; expected version {then} instead"
    )
    refusals = REFUSALS
    errors = (RuntimeError,)

    def __init__(self, torch: Any, ledger: Ledger) -> None:
        super().__init__(torch, ledger, torch.nn.Module, torch.optim.Optimizer)
        self._pending: List[Save] = []
        self._local = threading.local()
        self._writes = RecentWrites(torch, self.storage_of)
        self._written: Dict[Any, Written] = {}
        self._forgets = False
        self.saver = ""  # what saves now, where it is no node of the program
        self.recomputation = Checkpoints(self)

    @staticmethod
    def is_supported(framework: Any) -> bool:
        """Check whether a release has all that watching needs."""
        graph = getattr(getattr(framework, "autograd", None), "graph", None)
        native, tensor = getattr(framework, "_C", None), getattr(framework, "Tensor", None)
        parts = (graph, "increment_version"), (native, "_current_autograd_node"), (tensor, "untyped_storage")
        return all(hasattr(part, name) for part, name in parts)

    def start(self) -> None:
        """Record saves and writes from here on."""
        super().start()
        torch, thread = self.framework, threading.Thread
        graph, function = torch.autograd.graph, torch.autograd.Function
        disable = "disable_saved_tensors_hooks"
        self.patches.replace(graph, disable, self._disabling(getattr(graph, disable)))
        self.patches.replace(function, "apply", self._applying(function.apply.__func__))
        self.patches.replace(thread, "start", self._starting(thread.start))
        for context in self._contexts():
            self.patches.enter_context(context)
        torch_compile.patch(torch, self.ledger, self.patches)
        self.recomputation.patch(self.patches)
        # Under a mode some releases do not count what calls on lists of tensors write; whether this one does is tried.
        probe = torch.zeros(1, device="cpu")
        torch._foreach_add_([probe], 1)
        self._forgets = probe._version == 0

    def engines(self) -> List[Tuple[Any, str]]:
        """Return the function that runs backward, or those that are asked for one where a release has no such."""
        autograd = self.framework.autograd
        return [(autograd, name) for name in ([ENGINE] if hasattr(autograd, ENGINE) else ["backward", "grad"])]

    def _contexts(self) -> Tuple[Any, ...]:
        hooks = self.framework.autograd.graph.saved_tensors_hooks(self.pack, self.unpack)
        return hooks, mode(self.framework, self._call)

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
            native = self.framework._C._autograd
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
            saves = [self.pack(value) for value in getattr(node, "__dict__", {}).values() if self._is_tensor(value)]
            if node is not None and saves:
                node.register_prehook(lambda _: self._use(node.name(), saves))
            return result

        return classmethod(apply)

    def _is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.tensor)

    def _use(self, name: str, saves: List[Save]) -> None:
        """Report writes to what a custom function kept by itself."""
        for save in saves:
            self.report_uncounted(save, name, "attribute")

    def pack(self, tensor: Any) -> Save:
        """Record a save; the node keeps what is returned instead of the tensor."""
        if not self.ledger.active or self.storage_of(tensor) is None:
            return self.unrecorded(tensor)
        save = self.save(tensor)
        save.op = self.saver
        self._pending.append(save)
        return save

    @contextlib.contextmanager
    def without_modes(self) -> Iterator[None]:
        """Return a context in which no mode sees what is called, and nothing is recorded."""
        with self.framework.utils._python_dispatch._disable_current_modes(), self.framework.no_grad():
            yield

    def unpack(self, save: Save) -> Any:
        """
        Compare versions as any watch does, unless a node's attribute is read.

        Raises: what the framework would, where nobody is listening or the write was not seen.
        """
        return save.tensor if self.is_named(save) else super().unpack(save)

    def is_named(self, save: Save) -> bool:
        """Check whether a save is asked for by `part`, which reads the attributes of the node; tell it the save."""
        kept = getattr(self._local, "kept", None)
        if kept is not None:
            kept.append(save)
        return kept is not None

    def version(self, tensor: Any) -> int:
        """Return the version of a tensor; tensors of inference have none."""
        return 0 if tensor.is_inference() else int(tensor._version)

    def storage_of(self, value: Any) -> Optional[int]:
        """Identify the storage of a tensor; None where there is no such thing (sparse tensors, those of transforms)."""
        if not isinstance(value, self.tensor):
            return None
        try:
            return int(value.untyped_storage()._cdata)
        except (NotImplementedError, RuntimeError):
            return None

    def is_whole(self, tensor: Any) -> bool:
        """Check whether a tensor is no view."""
        return tensor._base is None

    def _call(self, func: Any, args: Tuple[Any, ...], options: Dict[str, Any]) -> Any:
        """Make a call of the framework, and record what it writes; what `torch.jit` traces must see none of ours."""
        if self.framework._C._get_tracing_state() is not None:
            return func(*args, **options)
        written = self._writes_of(func, args)
        uncounted = self._wrote(func, args, options, written)
        before = torch_overlap.copies(self, func, args, written) if written and self.ledger.active else None
        try:
            result = func(*args, **options)
        except RuntimeError as error:
            self._writes.failing(error)
            raise
        if self.recomputation.running:
            self.recomputation.gave(result, args, written_by(func))
        if uncounted:
            self.framework.autograd.graph.increment_version(uncounted)
        if before is not None and torch_overlap.is_other(self, func, before, options):
            self._report_overlap(func, sys._getframe(1))
        return result

    def _report_overlap(self, func: Any, frame: FrameType) -> None:
        """Report a write that read what it had already overwritten."""
        spot = self.places.spot(frame)
        write = self.ledger.access(str(func), spot, writes=True, parameter=False)
        fields = {"framework": self.name, "check": "operands_overlap", "write": write}
        self.ledger.report("overlapped", (spot.where,), fields)

    def _wrote(self, func: Any, args: Tuple[Any, ...], options: Dict[str, Any], written: Written) -> List[Any]:
        """
        Record the writes of a call that is about to run, where they reach storages that some save needs.

        Returned are tensors whose versions the call would count, were there no mode.
        """
        uncounted: List[Any] = []
        if self.recomputation.running:
            self.recomputation.calls(func, args, options, written)
        if written and self.ledger.active:
            spot: Optional[Spot] = None
            for tensor in [one for at, name in written for one in items_of(value_at(args, options, at, name))]:
                identity = self.storage_of(tensor)
                if identity is not None:
                    spot = spot or self.places.spot(sys._getframe(1))
                    self._writes.add(identity, spot)
                    self._add(func, tensor, self.ledger.storages.get(identity), spot)
            if self._forgets and func._schema.name.startswith(_LISTS):
                uncounted = [item for at, _ in written for item in args[at] if not item.is_inference()]
        if self._pending and not self.recomputation.is_packing:
            self._pending = []
        return uncounted

    def _writes_of(self, func: Any, args: Tuple[Any, ...]) -> Written:
        written = self._written.get(func)
        if written is None:
            written = self._written[func] = written_by(func)
        if written and written[-1][1] == "training":
            return written[:-1] if args[written[-1][0]] else ()
        return written

    def _add(self, func: Any, tensor: Any, storage: Optional[Storage], spot: Spot) -> None:
        """Add a write to a storage."""
        if func._schema.name == _SETTER:
            self._writes.give(tensor, spot)
        newest = storage.newest() if storage is not None else None
        if storage is None or newest is None:
            return
        for save in self._pending:  # what the op that saves it writes as well is kept for its version alone
            save.own |= save.storage is storage and is_within(save.spot.where, sys._getframe(1))
        owner = tensor if tensor._base is None else tensor._base
        is_parameter = bool(spot.step) or isinstance(owner, self.framework.nn.Parameter)
        number, version = self.ledger.next_number(), self.version(newest.tensor)
        self.add(storage, Write(number, str(func), spot, version, self.extent(tensor), tensor.dtype, is_parameter))

    @staticmethod
    def extent(tensor: Any) -> Extent:
        """Return where in its storage a tensor is, in elements."""
        return tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride())

    def copied(self, tensor: Any) -> Any:
        """Return a copy of a tensor without its history; None where it has no values."""
        if tensor.is_meta or type(tensor) not in {self.tensor, self.framework.nn.Parameter}:
            return None
        with self.without_modes():
            return tensor.detach().clone()

    def has_values(self, tensor: Any, values: Any) -> bool:
        """Check whether a tensor has the values of another one; those that are no numbers count as equal."""
        with self.without_modes():
            return tensor.shape == values.shape and not bool(
                (tensor.ne(values) & ~(tensor.isnan() & values.isnan())).any()
            )

    def reached(self, save: Save) -> Optional[Write]:
        """Return the first write after a save that reached elements of what was saved, counted or not."""
        return next((write for write in save.later() if self._overlaps(save.tensor, write)), None)

    def _overlaps(self, saved: Any, write: Write) -> bool:
        """Check whether a write reached elements of what was saved: spans first, then each element."""
        if write.dtype != saved.dtype:
            return True
        own = self.extent(saved)
        around = stretch(own, write.extent)
        if around is None:
            return False
        start, length = around
        with self.without_modes():
            mask = self.framework.zeros(length, dtype=self.framework.bool)
            self._part_of(mask, write.extent, start).fill_(True)
            return bool(self._part_of(mask, own, start).any())

    def _part_of(self, mask: Any, extent: Extent, start: int) -> Any:
        return self.framework.as_strided(mask, extent[1], extent[2], extent[0] - start)

    def op_of(self, save: Save) -> str:
        """Name what saved, or the node whose backward runs."""
        node = self.framework._C._current_autograd_node()
        return save.op or (str(node.name()) if node is not None else "")

    def report_recomputed(self, save: Save, op: str, write: Write) -> None:
        """Report a read of a function that runs again, by the name that a node of its op would have."""
        super().report_recomputed(save, f"{op.strip('_').title().replace('_', '')}Backward0", write)

    def part(self, save: Save) -> str:
        """Name what a node saved: `self.weight` of its layer, or the node's own name for it (`result`, `other`)."""
        found = super().part(save)
        caller = self.places.caller(sys._getframe(1))  # who called `unpack`; nobody in a thread of a device
        if found or (caller is not None and caller.f_code.co_name != ENGINE):
            return found  # a checkpoint asks on behalf of a node, and reading the node would run it again
        node = self.framework._C._current_autograd_node()
        names = [name for name in dir(node) if name.startswith("_saved_") and hasattr(node, "_raw" + name)]
        return next((name[len("_saved_") :] for name in names if save in self._kept(node, name)), "")

    def _kept(self, node: Any, name: str) -> List[Save]:
        """Return what a node keeps under a name: reading it calls `unpack`."""
        kept: List[Save] = []
        self._local.kept = kept
        try:
            getattr(node, name)
        finally:
            self._local.kept = None
        return kept

    def refused(self, error: BaseException, trace: TracebackType) -> Tuple[str, Optional[Spot], bool]:
        """Name the check, and find the write of which a later use of a tensor, or backward, complains."""
        check, raised = self.check_of(error), self.places.raised_at(trace)
        spot = self._writes.refused(check, error, trace, raised) if check else None
        return check, spot, spot is not None and spot is not raised

    def compiled_at(self, trace: TracebackType) -> Optional[Dict[str, Any]]:
        """Return the line of the program that compiled code carried out when it raised."""
        return torch_compile.raised_at(trace)
