"""
What differs between frameworks when a program is built and run: tensors, layers, seeds, backward.

`TorchAdapter` and `PaddleAdapter` are the two implementations. Inputs that are made up require gradients as the input
of an inner layer does: they have a history, so that only what a user's code does can be refused.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import functools
import math
import random
from types import ModuleType
from typing import Any, Callable, ClassVar, Dict, List, Optional, Sequence, Tuple

from .attempt import attempt

_DEEPEST = 4
_MOST_ITEMS = 1000
_MOST_NODES = 10_000
SEED = 7


class FrameworkAdapter(abc.ABC):
    """
    A framework and a device, `cpu` or `cuda`.

    `backwards` counts how often a backward was asked for since `count` was called; `numbers` are what came out, each
    with the words for what it is.
    """

    is_torch: ClassVar[bool]

    def __init__(self, framework: Any, device: str, layer: type, optimizer: type) -> None:
        self.framework, self.device = framework, device
        self.layer: Any = layer
        self.optimizer = optimizer
        self.tensor = framework.Tensor
        self.backwards = 0
        self.numbers: List[Tuple[str, float]] = []
        self.values: Optional[List[Any]] = None  # all tensors that numbers were kept of, where they are compared
        self.meter: Any = None  # what measures each trial, if anything does
        self.is_spoiled = False  # whether the numbers mean nothing
        self.is_meta = False  # whether what was made last has no memory
        self.is_real = False  # whether everything must have memory

    @abc.abstractmethod
    def settle(self) -> None:
        """Choose the device, and one thread: many small calls, and others work on the same machine."""

    @abc.abstractmethod
    def holds_gpu(self) -> bool:
        """Check whether this process has begun to use a GPU: no copy of it can."""

    @abc.abstractmethod
    def count(self) -> None:
        """Count backwards from here on, and keep the numbers they start from and give."""

    @abc.abstractmethod
    def leaves(self, roots: Any) -> List[Any]:
        """Return the tensors that a backward from here gives gradients to."""

    @abc.abstractmethod
    def trained(self, tensor: Any) -> Any:
        """Make a leaf one that gradients are kept in, and return it."""

    @abc.abstractmethod
    def longs(self, shape: Sequence[int]) -> Any:
        """Return zeros and ones as whole numbers."""

    @abc.abstractmethod
    def requires_grad(self, tensor: Any) -> bool:
        """Check whether gradients flow to a tensor."""

    @abc.abstractmethod
    def doubles(self, tensor: Any) -> Any:
        """Return the numbers of a tensor as doubles in one row; None if they are complex, or it has no such row."""

    @abc.abstractmethod
    def layers_of(self, module: Any) -> List[Any]:
        """Return a module and all layers in it."""

    def graph(self, roots: Any, most: float = math.inf) -> List[Any]:
        """Return the nodes behind the tensors in a value."""
        nodes = [tensor.grad_fn for tensor in self.tensors(roots) if tensor.grad_fn is not None]
        seen = set(nodes)
        for node in nodes:
            following = (item[0] if isinstance(item, tuple) else item for item in node.next_functions)
            inner = [item for item in following if item is not None and item not in seen]
            seen.update(inner)
            nodes.extend(dict.fromkeys(inner))
            if len(nodes) > most:
                break
        return nodes

    def note_history(self, tensor: Any) -> None:
        """Keep how long the history of a tensor is."""
        self.numbers.append(("the number of nodes in its history", float(len(self.graph(tensor, _MOST_NODES)))))

    @abc.abstractmethod
    def sgd(self, parameters: Any) -> Any:
        """Return an optimizer."""

    def counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function that runs backward."""

        @functools.wraps(original)
        def run(*args: Any, **options: Any) -> Any:
            self.backwards += 1
            self._note_each(args[:1], "the loss")
            leaves = self.leaves(args[:1])
            if self.meter is not None:
                self.meter.backward_begins()
            result = original(*args, **options)
            self._note_each(result, "a gradient")
            for leaf in leaves:
                self._note_gradient(leaf, f"a gradient of shape {list(leaf.shape)}")
            return result

        return run

    def note_variables(self, names: Dict[str, Any]) -> None:
        """Keep the numbers of the variables of a module, with the gradients of leaves and the state of layers."""
        for name, value in list(names.items()):
            held = {name: value}
            if isinstance(value, self.layer):
                held = {f"{name}.{key}": item for key, item in value.named_parameters()}
            for key, item in held.items():
                self.note(item, f"`{key}`")
                if isinstance(item, self.tensor) and self._is_trained_leaf(item):
                    self._note_gradient(item, f"the gradient of `{key}`")

    def _is_trained_leaf(self, tensor: Any) -> bool:
        """Check whether a tensor gets a gradient; torch refuses the question for a view whose base was written."""
        return bool(attempt(lambda: tensor.is_leaf and self.requires_grad(tensor)).value)

    def _note_gradient(self, leaf: Any, what: str) -> None:
        """Keep the numbers of a gradient; where none came, it is zero."""
        with self.framework.no_grad():
            self.note(leaf * 0 if leaf.grad is None else leaf.grad, what)

    def begin(self) -> None:
        """Forget the numbers: another trial begins."""
        self.numbers.clear()
        if self.meter is not None:
            self.meter.begin()

    @abc.abstractmethod
    def saved_tensors_hooks(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Any:
        """Return a context in which one function gets what is saved for backward, and the other gives it back."""

    @abc.abstractmethod
    def storage_of(self, tensor: Any) -> Tuple[int, int]:
        """Return what identifies the memory of a tensor, and its bytes."""

    @abc.abstractmethod
    def begin_peak(self) -> int:
        """Watch for the peak of memory from here on; return the bytes in use."""

    @abc.abstractmethod
    def peak(self) -> int:
        """Return the most bytes in use since `begin_peak`."""

    def note(self, value: Any, what: str) -> None:
        """Keep the numbers in a value, each with the words for its part; of tensors sums."""
        if self.meter is not None:
            self._keep(value)
            return
        self.numbers += _plain_numbers(value, what, _DEEPEST)
        with self.framework.no_grad():
            for path, tensor in self._found(value, into_layers=True):
                self._note_tensor(tensor, _part(what, path))

    def _note_each(self, value: Any, what: str) -> None:
        """Keep the numbers of all tensors in a value, under the same words."""
        for tensor in self.tensors(value):
            self.note(tensor, what)

    def _note_tensor(self, tensor: Any, what: str) -> None:
        """Keep sums of the finite numbers of a tensor, and how many are not finite, if any."""
        numbers = self.doubles(tensor)
        if numbers is None:
            return
        if math.prod(tensor.shape) == 1:
            self.numbers.append((what, float(numbers.item())))
            return
        finite = self.framework.isfinite(numbers)
        others = int((~finite).sum().item())
        if others:
            self.numbers.append((f"the count of numbers that are not finite in {what}", float(others)))
            numbers = self.framework.where(finite, numbers, self.framework.zeros_like(numbers))
        self.numbers.append((f"the sum of {what}", float(numbers.sum().item())))
        self.numbers.append((f"the sum of magnitudes of {what}", float(numbers.abs().sum().item())))
        order = float(self.framework.cumsum(numbers, 0).sum().item())
        self.numbers.append((f"the sum of cumulative sums of {what}", order))

    def _keep(self, value: Any) -> None:
        """Keep the tensors in a value, as they are now, where they are compared as a whole."""
        if self.values is not None:
            with self.framework.no_grad():
                self.values += [one.detach().clone() for one in self.tensors(value) if self.is_number(one)]

    def seed(self) -> None:
        """Start all random numbers anew."""
        random.seed(SEED)

    def floats(self, shape: Sequence[int]) -> Any:
        """Return random numbers that have a history and require gradients."""
        with self.where():
            return self.trained(self.framework.randn(list(shape))) * 1

    def is_number(self, tensor: Any) -> bool:
        """Check whether a tensor holds floating numbers on a real device."""
        return "float" in str(tensor.dtype)

    def bools(self, shape: Sequence[int]) -> Any:
        """Return truths, some of them true."""
        return self.longs(shape) > 0

    def made(self, make: Callable[[], Any]) -> Any:
        """Make something of the program."""
        return make()

    def where(self) -> Any:
        """Return a context in which tensors are made on the device of what was made last."""
        return contextlib.nullcontext()

    def tensors(self, value: Any) -> List[Any]:
        """Return all tensors in a value, each once: tuples, lists, dicts, data classes and plain objects."""
        return list({id(tensor): tensor for _, tensor in self._found(value)}.values())

    def _found(self, value: Any, *, into_layers: bool = False) -> List[Tuple[str, Any]]:
        """Return all tensors in a value, each with a path that leads to it, as `[0].mean`."""
        found: List[Tuple[str, Any]] = []
        self._collect(value, found, _DEEPEST, "", into_layers)
        return found

    def _collect(self, value: Any, found: List[Tuple[str, Any]], depth: int, path: str, into_layers: bool) -> None:
        if isinstance(value, self.tensor):
            found.append((path, value))
        elif into_layers and isinstance(value, self.layer):
            found += [(f"{path}.{name}", item) for name, item in value.named_parameters()]
        elif depth:
            for step, part in _parts(value, self.layer):
                self._collect(part, found, depth - 1, path + step, into_layers)

    def backward(self, value: Any) -> bool:
        """Run backward from all tensors in a value; return whether there was anything to run it from."""
        roots = [item for item in self.tensors(value) if self.requires_grad(item) and not _is_whole(item)]
        if not roots:
            return False
        loss = functools.reduce(lambda one, other: one + other, [_magnitude(item) for item in roots])
        loss.backward()
        return True

    def named(self, *names: str) -> Any:
        """Return the first layer that the framework has under one of these names."""
        return next(getattr(self.framework.nn, name) for name in names if hasattr(self.framework.nn, name))


def _part(what: str, path: str) -> str:
    """Return the words for a part of a value: `h[0]` of a variable, "part [0] of" or "part `.mean` of" others."""
    if not path:
        return what
    if what.startswith("`"):
        return f"{what[:-1]}{path}`"
    return f"part `{path}` of {what}" if path.startswith(".") else f"part {path} of {what}"


def _parts(value: Any, layer: type) -> List[Tuple[str, Any]]:
    """Return the parts of a value, each with the step that leads to it; no step leads to an item of a set."""
    if isinstance(value, dict):
        return [(f"[{key!r}]" if type(key) in (str, int) else "[...]", item) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [(f"[{at}]", item) for at, item in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        return [("[...]", item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f".{item.name}", getattr(value, item.name, None)) for item in dataclasses.fields(value)]
    if isinstance(value, (layer, type, ModuleType, str, bytes, int, float)) or value is None or callable(value):
        return []
    return [(f".{name}", item) for name, item in getattr(value, "__dict__", {}).items()]


def _plain_numbers(value: Any, what: str, depth: int, path: str = "") -> List[Tuple[str, float]]:
    """Return a number, those in lists and tuples, or the sums of an array and of its magnitudes, with their words."""
    words = _part(what, path)
    if isinstance(value, (int, float)):
        return [(words, float(value))]
    if isinstance(value, (list, tuple)) and depth:
        items = enumerate(value[:_MOST_ITEMS])
        return [found for at, item in items for found in _plain_numbers(item, what, depth - 1, f"{path}[{at}]")]
    if type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "kind", "") in {"f", "i", "u"}:
        return [
            (f"the sum of {words}", float(value.sum())),
            (f"the sum of magnitudes of {words}", float(abs(value).sum())),
        ]
    return []


def _is_whole(tensor: Any) -> bool:
    return any(word in str(tensor.dtype) for word in ("int", "bool"))


def _magnitude(tensor: Any) -> Any:
    return (tensor.abs() if "complex" in str(tensor.dtype) else tensor).sum()
