"""Finds arguments with which an op, or a module, can be called again and again."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from inplace_lint.knowledge.op import Op
from tests.facts.calling import REFUSED, Called, calls, resolve, tensors_in, version_of
from tests.facts.values import candidates, tensor

SHAPES = ((2, 4), (2, 4, 8), (2, 4, 8, 8), (2, 4, 8, 8, 8), (4,))


def repeatable(op: Op, name: str) -> Callable[[], Called] | None:
    """Give a function that makes the same call with new tensors; None when no guess at its arguments runs."""
    if op.init is not None:
        return _module(op, resolve(name))
    best = None
    for called in calls(op, name):
        if not called.holds(op.condition):
            continue
        if any(one.requires_grad for one in tensors_in(called.result)) or op.grads == ():
            return _again(op, name, called)
        best = best or called
    return None if best is None else _again(op, name, best)


def _again(op: Op, name: str, called: Called) -> Callable[[], Called]:
    """Repeat a call with copies of its arguments; values that a call before changed are not used again."""
    kept = {key: _copy(value) for key, value in called.values.items()}
    written = {write.to for write in op.writes}

    def run() -> Called:
        values = {key: _copy(value, inner=key in written) for key, value in kept.items()}
        again = next(calls(op, name, values), None)
        assert again is not None, f"{name} ran once and not a second time"
        return again

    return run


def _copy(value: Any, *, inner: bool = False) -> Any:
    if isinstance(value, torch.Tensor):
        copy = value.detach().clone().requires_grad_(value.requires_grad)
        return copy.clone() if inner and copy.requires_grad else copy
    if isinstance(value, tuple | list):
        return type(value)(_copy(one, inner=inner) for one in value)
    return value


def _module(op: Op, cls: type[torch.nn.Module]) -> Callable[[], Called] | None:
    needed = [a.name for a in op.init or () if a.kind == "plain" and not a.optional]
    options = [next(iter(candidates(name)), 2) for name in needed]
    for shape in SHAPES:
        for integral in (False, True):
            run = _runner(op, cls, options, shape, integral=integral)
            try:
                run()
            except REFUSED:
                continue
            return run
    return None


def _runner(
    op: Op, cls: type[torch.nn.Module], options: list[Any], shape: tuple[int, ...], *, integral: bool
) -> Callable[[], Called]:
    names = [a.name for a in op.args if a.kind == "plain" and not a.optional]
    count = len(names) or 1

    def run() -> Called:
        torch.manual_seed(0)
        module = cls(*options)
        values = [
            torch.ones(shape, dtype=torch.long) if integral and i == count - 1 else tensor(*shape) for i in range(count)
        ]
        full = {a.name: a.default for a in op.args if a.optional} | dict(zip(names, values, strict=False))
        full |= {
            k: p.default
            for k, p in inspect.signature(cls).parameters.items()
            if k not in full and p.default is not p.empty
        }
        called = Called(full, None, module)
        watched = [*names, *(f"self.{part.name}" for part in op.state)]
        called.versions = {name: version_of(one) for name in watched for one in called.tensors(name)[:1]}
        called.result = module(*values)
        return called

    return run
