"""
What differs between frameworks when a program is to be built and run: tensors, layers, seeds, backward.

A `Kit` is one framework seen like this. What is made up requires gradients as the input of an inner layer does: it has
a history, so that only what a user's code does can be refused.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import random
import sys
import weakref
from types import ModuleType
from typing import Any, Callable, Dict, List, Sequence, Tuple

from .attempt import attempt

_DEEPEST = 4
_LARGE = 4_000_000  # elements of a module
_SEED = 7
_MOST_FRAMES = 12  # that are asked for the tensors that they hold


class Kit:
    """
    A framework and a device, `cpu` or `cuda`.

    `backwards` counts how often a backward was asked for since `count` was called; `numbers` are what came out, each
    with the words for what it is.
    """

    def __init__(self, framework: Any, device: str) -> None:
        self.framework, self.device = framework, device
        self.is_torch = framework.__name__ == "torch"
        self.layer = framework.nn.Module if self.is_torch else framework.nn.Layer
        self.optimizer = framework.optim.Optimizer if self.is_torch else framework.optimizer.Optimizer
        self.tensor = framework.Tensor
        self.backwards = 0
        self.numbers: List[Tuple[str, float]] = []
        self.is_spoiled = False  # whether the numbers mean nothing
        self._layers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.is_meta = False  # whether what was made last has no memory
        self.is_real = False  # whether everything must have memory

    def settle(self) -> None:
        """Choose the device, and one thread: many small calls, and others work on the same machine."""
        if self.is_torch:
            self.framework.set_num_threads(1)
            if self.device == "cuda":
                self.framework.set_default_device("cuda")
        else:
            self.framework.set_device("gpu" if self.device == "cuda" else "cpu")

    def holds_gpu(self) -> bool:
        """Say whether this process has begun to use a GPU: no copy of it can."""
        return bool(self.framework.cuda.is_initialized()) if self.is_torch else self.device == "cuda"

    def count(self) -> None:
        """Count backwards from here on, and keep the numbers they start from and give."""
        framework = self.framework
        if self.is_torch:
            autograd = framework.autograd
            autograd._engine_run_backward = self._counted(autograd._engine_run_backward)
            return
        for owner, name in ((framework.Tensor, "backward"), (framework.autograd, "backward"), (framework, "grad")):
            setattr(owner, name, self._counted(getattr(owner, name)))
        self.layer.__init__ = self._noted(self.layer.__init__)

    def _noted(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def construct(layer: Any, *args: Any, **options: Any) -> None:
            original(layer, *args, **options)
            self._layers.add(layer)

        return construct

    def _counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def run(*args: Any, **options: Any) -> Any:
            self.backwards += 1
            self.note(args[:1], "the loss")
            leaves = self._leaves(args[:1])
            result = original(*args, **options)
            self.note(result, "a gradient")
            for leaf in leaves:
                self._note_gradient(leaf, f"a gradient of shape {list(leaf.shape)}")
            return result

        return run

    def _leaves(self, roots: Any) -> List[Any]:
        """
        Give the tensors that a backward from here gives gradients to.

        Paddle's nodes do not lead to them: there they are the parameters of layers, and what functions at work hold.
        """
        if not self.is_torch:
            owned = [item for layer in list(self._layers) for item in layer.parameters(include_sublayers=False)]
            return [*owned, *self._held_by_callers()]
        nodes = [tensor.grad_fn for tensor in self.tensors(roots) if tensor.grad_fn is not None]
        seen = set(nodes)
        for node in nodes:
            inner = [item for item, _ in node.next_functions if item is not None and item not in seen]
            seen.update(inner)
            nodes.extend(dict.fromkeys(inner))
        return [node.variable for node in nodes if hasattr(node, "variable")]

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

    def note_variables(self, names: Dict[str, Any]) -> None:
        """Keep the numbers of what the names of a module hold, with the gradients of leaves and the state of layers."""
        for name, value in list(names.items()):
            held = {name: value}
            if isinstance(value, self.layer):
                held = {f"{name}.{key}": item for key, item in value.named_parameters()}
            for key, item in held.items():
                self.note(item, f"`{key}`")
                if isinstance(item, self.tensor) and item.is_leaf and self.requires_grad(item):
                    self._note_gradient(item, f"the gradient of `{key}`")

    def _note_gradient(self, leaf: Any, what: str) -> None:
        """Keep the numbers of a gradient; where none came, it is zero."""
        with self.framework.no_grad():
            self.note(leaf * 0 if leaf.grad is None else leaf.grad, what)

    def note(self, value: Any, what: str) -> None:
        """Keep a number, or those of all tensors in a value: their sums, and the sums of their magnitudes."""
        if isinstance(value, (int, float)):
            self.numbers.append((what, float(value)))
        with self.framework.no_grad():
            for tensor in self.tensors(value):
                if self.is_number(tensor) and self._count(tensor) == 1:
                    self.numbers.append((what, float(tensor.item())))
                elif self.is_number(tensor):
                    self.numbers.append((f"the sum of {what}", float(tensor.sum().item())))
                    self.numbers.append((f"the sum of magnitudes of {what}", float(tensor.abs().sum().item())))

    def _count(self, tensor: Any) -> int:
        return int(tensor.numel()) if self.is_torch else int(tensor.size)

    def trained(self, tensor: Any) -> Any:
        """Give a leaf again, as one that gradients are kept in."""
        if self.is_torch:
            return tensor.requires_grad_()
        tensor.stop_gradient = False
        return tensor

    def seed(self) -> None:
        """Start all random numbers anew."""
        random.seed(_SEED)
        (self.framework.manual_seed if self.is_torch else self.framework.seed)(_SEED)

    def floats(self, shape: Sequence[int]) -> Any:
        """Give random numbers that have a history and require gradients."""
        with self._where():
            made = self.framework.randn(list(shape))
            if self.is_torch:
                made.requires_grad_()
            else:
                made.stop_gradient = False
            return made * 1

    def longs(self, shape: Sequence[int]) -> Any:
        """Give zeros and ones as whole numbers."""
        if self.is_torch:
            with self._where():
                return self.framework.randint(0, 2, list(shape))
        return self.framework.randint(0, 2, list(shape), dtype="int64")

    def made(self, make: Callable[[], Any]) -> Any:
        """
        Make something of the program; a large module is made without memory of its own.

        PyTorch's `meta` device keeps graphs and versions as any other does, and computes nothing: a model of full size
        costs what a small one does. What only real memory can do is tried on it again by who calls.
        """
        self.is_meta = False
        if self.is_torch and self.device == "cpu" and not self.is_real:
            with self.framework.device("meta"):
                light = attempt(make)
            if isinstance(light.value, self.layer) and self._size(light.value) > _LARGE:
                self.is_meta = True
                return light.value
            self.seed()
        return make()

    def _size(self, module: Any) -> int:
        return sum(item.numel() for item in (*module.parameters(), *module.buffers()))

    def _where(self) -> Any:
        return self.framework.device("meta") if self.is_meta else contextlib.nullcontext()

    def bools(self, shape: Sequence[int]) -> Any:
        """Give truths, some of them true."""
        return self.longs(shape) > 0

    def is_number(self, tensor: Any) -> bool:
        """Say whether a tensor holds floating numbers on a real device."""
        if self.is_torch:
            return bool(tensor.is_floating_point() and tensor.device.type != "meta" and not tensor.is_sparse)
        return "float" in str(tensor.dtype)

    def requires_grad(self, tensor: Any) -> bool:
        """Say whether gradients flow to a tensor."""
        return bool(tensor.requires_grad) if self.is_torch else not tensor.stop_gradient

    def tensors(self, value: Any) -> List[Any]:
        """Give all tensors in a value: tuples, lists, dicts, data classes and plain objects."""
        found: List[Any] = []
        self._collect(value, found, _DEEPEST)
        return found

    def _collect(self, value: Any, found: List[Any], depth: int) -> None:
        if isinstance(value, self.tensor):
            if all(value is not other for other in found):
                found.append(value)
        elif depth:
            for part in _parts(value, self.layer):
                self._collect(part, found, depth - 1)

    def backward(self, value: Any) -> bool:
        """Run backward from all that a value holds; say whether there was anything to run it from."""
        roots = [item for item in self.tensors(value) if self.requires_grad(item) and not _is_whole(item)]
        if not roots:
            return False
        loss = functools.reduce(lambda one, other: one + other, [_magnitude(item) for item in roots])
        loss.backward()
        return True

    def named(self, *names: str) -> Any:
        """Give the first layer that the framework has under one of these names."""
        return next(getattr(self.framework.nn, name) for name in names if hasattr(self.framework.nn, name))

    def layers_of(self, module: Any) -> List[Tuple[str, Any]]:
        """Give a module and all layers in it, each with the name of its kind in lower case."""
        inner = module.modules() if self.is_torch else module.sublayers(include_self=True)
        return [(type(item).__name__.lower(), item) for item in inner]

    def gradients(self, module: Any) -> Dict[str, Any]:
        """Give the gradients of a module's parameters."""
        return {name: value.grad for name, value in module.named_parameters() if value.grad is not None}


def _parts(value: Any, layer: type) -> List[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, item.name, None) for item in dataclasses.fields(value)]
    if isinstance(value, (layer, type, ModuleType, str, bytes, int, float)) or value is None or callable(value):
        return []
    return list(getattr(value, "__dict__", {}).values())


def _is_whole(tensor: Any) -> bool:
    return any(word in str(tensor.dtype) for word in ("int", "bool"))


def _magnitude(tensor: Any) -> Any:
    return (tensor.abs() if "complex" in str(tensor.dtype) else tensor).sum()
