"""
Builds calls of real torch from the facts alone: no samples of torch's own, none of the generator's.

Values are guessed from the names of the arguments and tried until a call runs. Guards are answered from the values.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, product
from operator import attrgetter
from typing import Any

import torch

from inplace_lint.domain.rearrangement import sums
from inplace_lint.domain.values import Const
from inplace_lint.knowledge.argument import Argument
from inplace_lint.knowledge.guard import Atom, Guard, holds
from inplace_lint.knowledge.op import Op
from tests.facts.values import candidates

TRIES = 160
# Optional arguments without one of which some calls do not run.
OFTEN = {"min", "max", "scale_factor", "output_size", "size", "p", "prec"}
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


def version_of(tensor: torch.Tensor) -> int:
    return tensor._version  # noqa: SLF001 - torch documents it so


def resolve(name: str) -> Any:
    return attrgetter(name.removeprefix("torch."))(torch)


@dataclass(slots=True)
class Called:
    """A call that was made: its arguments by name, what came back, the module if it was one."""

    values: dict[str, Any]
    result: Any
    module: torch.nn.Module | None = None
    versions: dict[str, int] = field(default_factory=dict)

    def value(self, name: str) -> Any:
        if name.startswith("self.") and self.module is not None:
            return getattr(self.module, name[5:], None)
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
            case "contiguous" | "dense":
                return isinstance(value, torch.Tensor) and value.is_contiguous()
            case "float" | "int" | "bool":
                return kind_of(value) == atom.name
            case "basic":
                return not isinstance(value, torch.Tensor | list)
            case _:
                return self._of_shape(atom, value)

    def _of_shape(self, atom: Atom, value: Any) -> bool | None:
        match atom.name:
            case "matrix":
                return isinstance(value, torch.Tensor) and value.dim() == 2
            case "views":
                return isinstance(value, torch.Tensor) and value.is_contiguous()
            case "keeps":
                asked = [tensors_in(one) for name, one in self.values.items() if name != atom.args[0]]
                dtypes = [one for one in self.values.values() if isinstance(one, torch.dtype)]
                own = {one.dtype for one in tensors_in(value)}
                return bool(own) and own == {*dtypes, *(one.dtype for found in asked for one in found)}
            case "sums":
                return sums(Const(value))
            case "rows":
                return isinstance(value, torch.Tensor) and _is_rows(
                    value, turned=bool(atom.args[1:] and self.value(atom.args[1]))
                )
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


def _is_rows(value: torch.Tensor, *, turned: bool) -> bool:
    """Check whether (time, batch, features) is rows without a copy, as torch finds when it is asked for a view."""
    first = value.transpose(0, 1) if turned and value.dim() == 3 else value
    try:
        first.view(-1, first.shape[-1])
    except RuntimeError:
        return False
    return True


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


def calls(op: Op, spelling: str, values: dict[str, Any] | None = None) -> Iterator[Called]:
    """Give calls of one form that run; optional arguments keep their defaults unless no call runs without one."""
    fixed = values or {}
    needed = [a for a in op.args if (a.kind in {"plain", "keyword"} and not a.optional) or a.kind == "args"]
    optional = [a for a in op.args if a.optional and a.name in OFTEN]
    found = False
    for extra in [[], *([a] for a in optional)]:
        for called in _calls(op, spelling, [*needed, *extra], fixed):
            found = True
            yield called
        if found:
            return


def _calls(op: Op, spelling: str, needed: list[Argument], fixed: dict[str, Any]) -> Iterator[Called]:
    written = {write.to for write in op.writes}
    makers = [(fixed[a.name],) if a.name in fixed and a in needed else candidates(a.name) for a in needed]
    function = resolve(spelling)
    for choice in islice(product(*makers), TRIES):
        made = {a.name: _make(value, inner=a.name in written) for a, value in zip(needed, choice, strict=True)}
        called = _call(op, function, needed, made)
        if called is not None:
            yield called


def _make(value: Any, *, inner: bool) -> Any:
    made = (
        value()
        if callable(value) and getattr(value, "__name__", "") in {"<lambda>", "square", "_row", "_indices"}
        else value
    )
    # What is written must not be a leaf.
    if inner and isinstance(made, torch.Tensor) and made.requires_grad:
        return made.clone()
    if inner and isinstance(made, list):
        return [_make(one, inner=True) for one in made]
    return made


def _call(op: Op, function: Any, needed: list[Argument], made: dict[str, Any]) -> Called | None:
    full = {a.name: a.default for a in op.args if a.optional} | made
    versions = {name: version_of(one) for name, value in made.items() for one in tensors_in(value)[:1]}
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
        if argument.kind == "keyword" or argument.optional:
            kwargs[argument.name] = value
        elif argument.kind == "args" and isinstance(value, list | tuple):
            args.extend(value)
        else:
            args.append(value)
    return args, kwargs
