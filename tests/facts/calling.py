"""
Builds calls of real torch from the facts alone: no samples of torch's own, none of the generator's.

Values are guessed from the names of the arguments and tried until a call runs. Guards are answered from the values.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from operator import attrgetter
from typing import Any

import torch

from inplace_lint.knowledge.guard import Atom, Guard, holds
from inplace_lint.knowledge.op import Argument, Op

TRIES = 160
REFUSED = (
    RuntimeError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    AssertionError,
    NotImplementedError,
    KeyError,
    BufferError,
)
_OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def resolve(name: str) -> Any:
    return attrgetter(name.removeprefix("torch."))(torch)


def tensor(*size: int) -> torch.Tensor:
    return torch.rand(*size).mul(0.6).add(0.2).requires_grad_()


def square() -> torch.Tensor:
    return (torch.rand(4, 4) @ torch.rand(4, 4) + 4 * torch.eye(4)).requires_grad_()


@dataclass(slots=True)
class Called:
    """A call that was made: its arguments by name, what came back, the module if it was one."""

    values: dict[str, Any]
    result: Any
    module: torch.nn.Module | None = None
    versions: dict[str, int] = field(default_factory=dict)

    def value(self, name: str) -> Any:
        if name.startswith("self.") and self.module is not None:
            return attrgetter(name[5:])(self.module)
        if name in self.values or self.module is None:
            return self.values.get(name)
        return getattr(self.module, name, None)

    def tensors(self, name: str) -> list[torch.Tensor]:
        return tensors_in(self.value(name))

    def truth(self, atom: Atom) -> bool | None:
        value = self.value("training" if atom.args[0] == "train" else atom.args[0])
        found = tensors_in(value)
        match atom.name:
            case "":
                return False if atom.args[0] == "autocast" else bool(value is not None and not found and value)
            case "rg":
                return any(one.requires_grad for one in found)
            case "passed":
                return value is not None
            case "tensor":
                return isinstance(value, torch.Tensor)
            case "contiguous":
                return isinstance(value, torch.Tensor) and value.is_contiguous()
            case "float" | "int" | "bool":
                return kind_of(value) == atom.name
            case "basic":
                return not isinstance(value, torch.Tensor | list)
            case _:
                return None

    def compare(self, atom: Atom, op: str, constant: object) -> bool | None:
        value = self.value(atom.args[0])
        if atom.name == "ndim":
            value = value.dim() if isinstance(value, torch.Tensor) else None
        try:
            return bool(_OPERATORS[op](value, constant))
        except TypeError:
            return False

    def holds(self, guard: Guard | None) -> bool:
        return holds(guard, self) is True


def kind_of(value: object) -> str:
    if isinstance(value, torch.Tensor):
        if value.dtype is torch.bool:
            return "bool"
        return "float" if value.is_floating_point() else "complex" if value.is_complex() else "int"
    return type(value).__name__


def tensors_in(value: object) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [one for entry in value for one in tensors_in(entry)]
    return []


def candidates(name: str) -> Sequence[Any]:
    """Give makers of values for an argument, likeliest first."""
    indices = lambda: torch.zeros(4, 4, dtype=torch.long)  # noqa: E731
    row = lambda: torch.tensor([0, 2, 1, 3])  # noqa: E731
    known: dict[str, Sequence[Any]] = {
        "dim": (0, [0]), "dims": ((0, 1), [0]), "dim0": (0,), "dim1": (1,), "axis0": (0,), "axis1": (1,), "axis": (0,),
        "dimension": (0,), "index": (row, indices, 0, [row]), "indices": (row, indices, [row]), "mask": (lambda: torch.rand(4, 4) > 0.5,),
        "condition": (lambda: torch.rand(4, 4) > 0.5,), "size": ((4, 4), 2), "shape": ((2, 8), (4, 4)), "sizes": ((2, 2),),
        "repeats": ((2, 1), 2), "pad": ((1, 1), (1, 1, 1, 1)), "kernel_size": (2, 3), "output_size": (2, (4, 4), [4, 4]), "normalized_shape": ([4],),
        "k": (2,), "n": (2,), "p": (0.5, 2.0, 1), "value": (0.5, lambda: tensor(4, 4)), "values": (lambda: tensor(4), lambda: tensor(4, 4)),
        "target": (row, lambda: tensor(4, 4), lambda: torch.ones(4)), "num_groups": (2,), "tensors": (lambda: [tensor(4, 4), tensor(4, 4)],),
        "chunks": (2,), "split_size": (2,), "split_size_or_sections": (2,), "indices_or_sections": (2,), "split_sizes": ([2, 2],),
        "start": (0,), "end": (lambda: tensor(4, 4), 3), "length": (2,), "step": (1,), "upscale_factor": (2,), "downscale_factor": (2,),
        "source": (lambda: tensor(4, 4), 0), "destination": (1,), "offset": (0,), "ord": (2,), "fill_value": (0.5,), "weight": (lambda: tensor(4, 4), lambda: tensor(4)),
        "running_mean": (lambda: torch.zeros(4), None), "running_var": (lambda: torch.ones(4), None), "groups": (2,), "norm_type": (2.0,), "correction": (1,),
        "equation": ("ij,jk->ik",), "operands": (lambda: (tensor(4, 4), tensor(4, 4)),), "ndarray": (lambda: torch.rand(4).numpy(),), "maxnorm": (1.0,),
        "generator": (None,), "shifts": (1,), "reduce": ("sum",), "rounding_mode": ("floor",), "stable": (True,), "training": (True,), "train": (True,),
        "descending": (False,), "max_norm": (1.0,), "num_features": (4,), "num_channels": (4,), "in_features": (4,), "out_features": (3,), "in_channels": (4,),
        "out_channels": (4,), "num_embeddings": (5,), "embedding_dim": (4,), "input_size": (4,), "hidden_size": (3,), "padding": (1, (1, 1)), "embed_dim": (4,),
        "num_heads": (2,), "d_model": (4,), "nhead": (2,), "in1_features": (4,), "in2_features": (4,), "lambd": (0.5,), "threshold": (0.5,), "scale_factor": (2,),
        "unflattened_size": ((2, 2),), "num_samples": (2,), "boundaries": (lambda: torch.tensor([0.1, 0.5]),), "sorted_sequence": (lambda: torch.tensor([0.1, 0.5]),),
        "memory_format": (torch.contiguous_format,), "dtype": (torch.float32,), "obj": (lambda: tensor(4),), "element": (0.5,), "format_spec": ("",), "memo": ({},),
        "n_fft": (4,), "options": ({},), "func": (lambda t: t,), "decimals": (1,), "bins": (3,), "min": (0.1, 0), "max": (0.9, 1), "from": (0,), "to": (1,), "low": (0,), "high": (5,),
        "data": ([1.0],), "steps": (3,), "start_dim": (0,), "end_dim": (1,), "unbiased": (True,), "keepdim": (False,), "storage_offset": (0,), "stride": ((4, 1), 1),
        "lengths": (lambda: torch.tensor([4, 3]),), "sequences": (lambda: [tensor(3), tensor(2)],), "parameters": (lambda: [tensor(3)],), "window_length": (4,),
    }  # fmt: skip
    anything = (
        lambda: tensor(4, 4), square, lambda: tensor(4), lambda: tensor(2, 4, 4), lambda: tensor(2, 4, 8, 8), 2, indices, row,
        lambda: torch.rand(4, 4) > 0.5, lambda: torch.rand(4, 4, dtype=torch.complex64).requires_grad_(),
    )  # fmt: skip
    inputs = (lambda: tensor(2, 4, 4, 4, 4), lambda: tensor(4))
    if name in {"input", "self", "tensor", "x", "A", "src"}:
        return (anything[0], anything[4], anything[3], square, *inputs, indices, anything[8], anything[9], anything[2])
    return (*known.get(name, ()), *(anything if name not in known else ()))


def calls(op: Op, spelling: str, values: dict[str, Any] | None = None) -> Iterator[Called]:
    """Give calls of one form that run, its optional arguments left at their defaults."""
    fixed = values or {}
    needed = [a for a in op.args if (a.kind in {"plain", "keyword"} and not a.optional) or a.kind == "args"]
    written = {write.to for write in op.writes}
    makers = [(fixed[a.name],) if a.name in fixed else candidates(a.name) for a in needed]
    function = resolve(spelling)
    for choice in islice(product(*makers), TRIES):
        made = {a.name: _make(value, inner=a.name in written) for a, value in zip(needed, choice, strict=True)}
        called = _call(op, function, needed, made)
        if called is not None:
            yield called


def _make(value: Any, *, inner: bool) -> Any:
    made = value() if callable(value) and getattr(value, "__name__", "") in {"<lambda>", "square"} else value
    # What is written must not be a leaf.
    if inner and isinstance(made, torch.Tensor) and made.requires_grad:
        return made.clone()
    if inner and isinstance(made, list):
        return [_make(one, inner=True) for one in made]
    return made


def _call(op: Op, function: Any, needed: list[Argument], made: dict[str, Any]) -> Called | None:
    full = {a.name: a.default for a in op.args if a.optional} | made
    versions = {name: one._version for name, value in made.items() for one in tensors_in(value)[:1]}
    args, kwargs = _arguments(needed, made)
    try:
        torch.manual_seed(0)
        result = function(*args, **kwargs) if callable(function) else function.__get__(args[0])
    except REFUSED:
        return None
    return Called(full, result, None, versions)


def _arguments(needed: list[Argument], made: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for argument in needed:
        value = made[argument.name]
        if argument.kind == "keyword":
            kwargs[argument.name] = value
        elif argument.kind == "args" and isinstance(value, list | tuple):
            args.extend(value)
        else:
            args.append(value)
    return args, kwargs
