"""Paddle, as far as a program is built and run with it."""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any, Callable, Dict, List, Sequence, Tuple

from .framework_adapter import SEED, FrameworkAdapter

_MOST_FRAMES = 12  # that are asked for the tensors that they hold


class PaddleAdapter(FrameworkAdapter):
    """Paddle and a device."""

    is_torch = False

    def __init__(self, paddle: Any, device: str) -> None:
        super().__init__(paddle, device, paddle.nn.Layer, paddle.optimizer.Optimizer)
        self._layers: weakref.WeakSet[Any] = weakref.WeakSet()

    def settle(self) -> None:
        """Choose the device."""
        self.framework.set_device("gpu" if self.device == "cuda" else "cpu")

    def holds_gpu(self) -> bool:
        """Check whether this process has begun to use a GPU: importing Paddle there does."""
        return self.device == "cuda"

    def count(self) -> None:
        """Count what runs backward, and know the layers that are constructed."""
        framework = self.framework
        for owner, name in ((framework.Tensor, "backward"), (framework.autograd, "backward"), (framework, "grad")):
            setattr(owner, name, self.counted(getattr(owner, name)))
        self.layer.__init__ = self._noted(self.layer.__init__)

    def _noted(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def construct(layer: Any, *args: Any, **options: Any) -> None:
            original(layer, *args, **options)
            self._layers.add(layer)

        return construct

    def leaves(self, _roots: Any) -> List[Any]:
        """
        Return the parameters of layers, and what the functions at work hold.

        Paddle's nodes do not lead to the tensors that a backward gives gradients to.
        """
        owned = [item for layer in list(self._layers) for item in layer.parameters(include_sublayers=False)]
        return [*owned, *self._held_by_callers()]

    def _held_by_callers(self) -> List[Any]:
        found: Dict[int, Any] = {}
        frame = sys._getframe(1)
        for _ in range(_MOST_FRAMES):
            if frame.f_back is None:
                break
            frame = frame.f_back
            values = list(frame.f_locals.values())
            tensors = [value for value in values if isinstance(value, self.tensor) and value.is_leaf]
            found.update((id(tensor), tensor) for tensor in tensors if self.requires_grad(tensor))
        return list(found.values())

    def trained(self, tensor: Any) -> Any:
        """Make a leaf one that gradients are kept in, and return it."""
        tensor.stop_gradient = False
        return tensor

    def seed(self) -> None:
        """Start all random numbers anew."""
        super().seed()
        self.framework.seed(SEED)

    def longs(self, shape: Sequence[int]) -> Any:
        """Return zeros and ones as whole numbers."""
        return self.framework.randint(0, 2, list(shape), dtype="int64")

    def requires_grad(self, tensor: Any) -> bool:
        """Check whether gradients flow to a tensor."""
        return not tensor.stop_gradient

    def doubles(self, tensor: Any) -> Any:
        """Return the numbers of a tensor as doubles in one row; None where it has no such row."""
        if not tensor.is_dense() or tensor.is_complex():
            return None
        return tensor.detach().astype("float64").flatten()

    def layers_of(self, module: Any) -> List[Any]:
        """Return a layer and all layers in it."""
        return list(module.sublayers(include_self=True))

    def saved_tensors_hooks(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Any:
        """Return a context in which one function gets what is saved for backward, and the other gives it back."""
        return self.framework.autograd.saved_tensors_hooks(pack, unpack)

    def storage_of(self, tensor: Any) -> Tuple[int, int]:
        """Return what identifies the memory of a tensor, and its bytes."""
        return int(tensor.data_ptr()), int(tensor.size) * int(tensor.element_size())

    def begin_peak(self) -> int:
        """Watch for the peak of memory from here on; return the bytes in use."""
        if self.device == "cuda":
            self.framework.device.cuda.reset_max_memory_allocated()
            return int(self.framework.device.cuda.memory_allocated())
        self._core.host_memory_stat_reset_peak_value("Allocated", 0)
        return int(self._core.host_memory_stat_current_value("Allocated", 0))

    def peak(self) -> int:
        """Return the most bytes in use since `begin_peak`."""
        if self.device == "cuda":
            return int(self.framework.device.cuda.max_memory_allocated())
        return int(self._core.host_memory_stat_peak_value("Allocated", 0))

    @property
    def _core(self) -> Any:
        return self.framework.base.core

    def sgd(self, parameters: Any) -> Any:
        """Return an optimizer."""
        return self.framework.optimizer.SGD(learning_rate=0.1, parameters=parameters)
