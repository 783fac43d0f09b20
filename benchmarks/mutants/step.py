"""
One training step of a model, on torch or on Paddle, and whether two steps did the same.

The loss is a weighted sum of the squares of every tensor that comes out. Random numbers are those of one seed for the
model, one for its input and one for the step, so that a step of the same code always gives the same.
"""

from __future__ import annotations

import contextlib
import importlib
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.mutants.models import Model

_IN_PLACE = re.compile(
    r"modified by an inplace operation|leaf variable that requires grad|is a view and is being modified inplace"
    r"|more than one element of the written-to tensor|some elements of the input tensor and the written-to"
    r"|modified inplace|can't use inplace strategy|has been modified by|inplace_version",
    re.IGNORECASE,
)
_CLOSE = 1e-4
_DEEPEST = 6


@dataclass
class Training:
    """A model as it was built, and the call that gives it its input."""

    model: Model
    framework: Any
    module: Any = None
    names: dict[str, Any] = field(default_factory=dict)
    given: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step led to: the loss, the gradients by name, and what lasts after it (buffers, parameters, input)."""

    loss: Any
    gradients: dict[str, Any]
    state: list[Any]


def built(model: Model) -> Training:
    """Return a training of a model with its weights as they are at first."""
    training = Training(model, importlib.import_module(model.framework))
    _seed(training.framework, 1)
    names = training.framework.utils.unique_name.guard() if model.framework == "paddle" else contextlib.nullcontext()
    with names:  # a parameter of this name may have been made before
        exec(model.build, training.names)
    training.module = training.names["model"]
    training.module.train()
    return training


def forward(training: Training) -> Any:
    """Return the loss of one forward run."""
    return loss_of(training, called(training))


def called(training: Training) -> Any:
    """Return what the model returns for its input."""
    training.given.clear()

    def randn(*shape: int) -> Any:
        training.given.append(_tensor(training.framework, np.random.randn(*shape).astype("float32")))
        return training.given[-1]

    def ints(high: int, *shape: int) -> Any:
        training.given.append(_tensor(training.framework, np.random.randint(0, high, shape)))
        return training.given[-1]

    _seed(training.framework, 2)
    return eval(
        training.model.call,
        {training.model.framework: training.framework, **training.names, "randn": randn, "ints": ints},
    )


def loss_of(training: Training, result: Any) -> Any:
    """Return a weighted sum of the squares of all tensors in what a model returned."""
    numbers = np.random.RandomState(3)
    loss = 0.0
    for tensor in _tensors(training.framework, result):
        weight = _tensor(training.framework, np.array(0.5 + numbers.rand(*tensor.shape), "float32"))
        loss = loss + (weight * tensor * tensor).mean()
    return loss


def backward(training: Training, loss: Any) -> Outcome:
    """Return what the step led to, after its backward run."""
    loss.backward()
    parameters = dict(training.module.named_parameters())
    gradients = {name: None if item.grad is None else _numbers(item.grad) for name, item in parameters.items()}
    lasting = [*parameters.values(), *training.module.buffers(), *training.given]
    return Outcome(_numbers(loss), gradients, [_numbers(item) for item in lasting])


def compared(outcome: Outcome, healthy: Outcome) -> str:
    """Return `silent` where training goes another way, `side-effect` where only memory differs, or `equal`."""
    largest = max(
        (float(np.abs(item).max()) for item in healthy.gradients.values() if item is not None and item.size),
        default=0.0,
    )
    same = _close(outcome.loss, healthy.loss) and all(
        _close(outcome.gradients.get(name), expected, 1e-6 * largest) for name, expected in healthy.gradients.items()
    )
    if not same:
        return "silent"
    return "equal" if all(map(_close, outcome.state, healthy.state)) else "side-effect"


def is_in_place_error(error: Exception) -> bool:
    """Return whether a framework refuses a write, or what the write destroyed."""
    return bool(_IN_PLACE.search(str(error)))


def _seed(framework: Any, number: int) -> None:
    random.seed(number)
    np.random.seed(number)
    seed: Callable[[int], object] = getattr(framework, "manual_seed", None) or framework.seed
    seed(number)


def _tensor(framework: Any, numbers: Any) -> Any:
    return framework.from_numpy(numbers) if framework.__name__ == "torch" else framework.to_tensor(numbers)


def _numbers(tensor: Any) -> Any:
    tensor = tensor.detach()
    return np.array(tensor.float() if "bfloat16" in str(tensor.dtype) else tensor)


def _tensors(framework: Any, value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the tensors in a result that lead to parameters, in a fixed order."""
    if isinstance(value, framework.Tensor):
        needs = value.requires_grad if framework.__name__ == "torch" else not value.stop_gradient
        if needs:
            yield framework.view_as_real(value) if value.is_complex() else value
    elif isinstance(value, (list, tuple, dict)) and depth < _DEEPEST:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(framework, item, depth + 1)
    elif hasattr(value, "__dict__") and not callable(value) and depth < _DEEPEST:
        for item in vars(value).values():
            yield from _tensors(framework, item, depth + 1)


def _close(one: Any, other: Any, near: float = 1e-12) -> bool:
    if one is None or other is None:
        return one is other
    if one.shape != other.shape:
        return False
    largest = float(np.abs(np.nan_to_num(other)).max()) if other.size else 0.0
    return np.allclose(one, other, rtol=0.0, atol=_CLOSE * largest + near, equal_nan=True)
