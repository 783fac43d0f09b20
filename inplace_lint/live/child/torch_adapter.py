"""PyTorch, as far as a program is built and run with it."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, List, Sequence, Tuple

from .attempt import attempt
from .framework_adapter import SEED, FrameworkAdapter
from .torch_storages import storages

_LARGE = 4_000_000  # elements of a module


class TorchAdapter(FrameworkAdapter):
    """PyTorch and a device."""

    is_torch = True

    def __init__(self, torch: Any, device: str) -> None:
        super().__init__(torch, device, torch.nn.Module, torch.optim.Optimizer)
        self._storages: Any = None

    def settle(self) -> None:
        """Choose the device, and one thread: many small calls, and others work on the same machine."""
        self.framework.set_num_threads(1)
        if self.device == "cuda":
            self.framework.set_default_device("cuda")

    def holds_gpu(self) -> bool:
        """Check whether this process has begun to use a GPU."""
        return bool(self.framework.cuda.is_initialized())

    def count(self) -> None:
        """Count what runs the engine of backward."""
        autograd = self.framework.autograd
        autograd._engine_run_backward = self.counted(autograd._engine_run_backward)

    def leaves(self, roots: Any) -> List[Any]:
        """Return the tensors that the graph of a backward ends in."""
        return [node.variable for node in self.graph(roots) if hasattr(node, "variable")]

    def trained(self, tensor: Any) -> Any:
        """Make a leaf one that gradients are kept in, and return it."""
        return tensor.requires_grad_()

    def seed(self) -> None:
        """Start all random numbers anew."""
        super().seed()
        self.framework.manual_seed(SEED)

    def longs(self, shape: Sequence[int]) -> Any:
        """Return zeros and ones as whole numbers."""
        with self.where():
            return self.framework.randint(0, 2, list(shape))

    def made(self, make: Callable[[], Any]) -> Any:
        """
        Make something of the program; a large module is made without memory of its own.

        The `meta` device keeps graphs and versions as any other does, and computes nothing: a model of full size costs
        what a small one does. The caller tries again in real memory what only that can do.
        """
        self.is_meta = False
        if self.device == "cpu" and not self.is_real:
            with self.framework.device("meta"):
                light = attempt(make)
            if isinstance(light.value, self.layer) and self._elements(light.value) > _LARGE:
                self.is_meta = True
                return light.value
            self.seed()
        return make()

    def _elements(self, module: Any) -> int:
        return sum(item.numel() for item in (*module.parameters(), *module.buffers()))

    def where(self) -> Any:
        """Return a context in which tensors are made on the device of what was made last."""
        return self.framework.device("meta") if self.is_meta else contextlib.nullcontext()

    def is_number(self, tensor: Any) -> bool:
        """Check whether a tensor holds floating numbers on a real device."""
        return super().is_number(tensor) and tensor.device.type != "meta" and not tensor.is_sparse

    def requires_grad(self, tensor: Any) -> bool:
        """Check whether gradients flow to a tensor."""
        return bool(tensor.requires_grad)

    def doubles(self, tensor: Any) -> Any:
        """Return the numbers of a tensor as doubles in one row; None where it has no such row."""
        is_dense = tensor.device.type != "meta" and tensor.layout is self.framework.strided
        if not is_dense or tensor.is_quantized or tensor.is_complex():
            return None
        return tensor.detach().double().flatten()

    def layers_of(self, module: Any) -> List[Any]:
        """Return a module and all layers in it."""
        return list(module.modules())

    def saved_tensors_hooks(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Any:
        """Return a context in which one function gets what is saved for backward, and the other gives it back."""
        return self.framework.autograd.graph.saved_tensors_hooks(pack, unpack)

    def storage_of(self, tensor: Any) -> Tuple[int, int]:
        """Return what identifies the memory of a tensor, and its bytes."""
        found = attempt(tensor.untyped_storage).value  # sparse tensors have none
        return (0, 0) if found is None else (found._cdata, found.nbytes())

    def begin_peak(self) -> int:
        """Watch for the peak of memory from here on; return the bytes in use."""
        if self.device == "cuda":
            self.framework.cuda.reset_peak_memory_stats()
            return int(self.framework.cuda.memory_allocated())
        if self._storages is None:
            self._storages = storages(self.framework)
            self._storages.__enter__()
        return int(self._storages.begin())

    def peak(self) -> int:
        """Return the most bytes in use since `begin_peak`."""
        return int(self.framework.cuda.max_memory_allocated() if self.device == "cuda" else self._storages.peak)

    def sgd(self, parameters: Any) -> Any:
        """Return an optimizer."""
        return self.framework.optim.SGD(parameters, lr=0.1)
