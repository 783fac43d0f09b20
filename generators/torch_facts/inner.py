"""
What a module of others keeps of the parameters of these: `self.linear1.weight`, `self.layers.each.norm1.weight`.

Seen by running each sample with one operand after another as the only one that requires grad.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from functools import reduce

import torch
from torch import nn

from generators.torch_facts.entries import Row
from generators.torch_facts.forms import resolve
from generators.torch_facts.hand import unused, views
from generators.torch_facts.modules import Sample, parameters, samples

_PLACE = re.compile(r"(?<=\.)\d+(?=\.)")
# By the path of a parameter, and what is said of its save besides: the operands for each of which it is kept.
Kept = dict[tuple[str, str], list[str]]
_BESIDES: dict[str, Row] = {"": {}, "view": {"view": True}, "unused": {"used": False}}


def with_inner_saves(row: Row) -> Row:
    """
    Say of a module which parameters of the modules in it are kept, and for which operands that require grad.

    Of the parameters, the first one for which it is kept in all samples stands for all; `each` stands for the modules
    of a list.
    """
    cls = resolve(row["op"]) if "init" in row and row["op"].startswith("torch.nn.") else None
    if not inspect.isclass(cls) or not issubclass(cls, nn.Module) or "state" not in row:
        return row
    seen = [kept for sample in samples(cls.__name__, train=True) for kept in _kept(cls, sample)]
    saves: list[Row] = []
    for key in dict.fromkeys(key for kept in seen for key in kept if key[0].partition(".")[0] in row["state"]):
        path, besides = key
        sure = reduce(_shared, [kept[key] for kept in seen if key in kept])
        asked = [one for one in sure if not one.startswith("self.")]
        asked += [one for one in sure if one.startswith("self.")][:1]
        if asked:
            guard = " or ".join(f"rg({one})" for one in asked)
            saves.append({"of": f"self.{path}", "if": guard, **_BESIDES[besides]})
    return {**row, "saves": [*row.get("saves", ()), *saves]} if saves else row


def _shared(left: list[str], right: list[str]) -> list[str]:
    return [one for one in left if one in right]


def _kept(cls: type[nn.Module], sample: Sample) -> Iterator[Kept]:
    """Yield what a sample keeps of the parameters of inner modules; nothing if it cannot be made."""
    args, kwargs = sample.init
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = cls(*args, **kwargs)
    except (TypeError, ValueError, RuntimeError, AssertionError):
        return
    inner = {name: value for name, value in module.named_parameters() if "." in name}
    inputs, options = sample.forward
    names = [one.name for one in parameters(cls.forward).parameters]
    floats = {name: one for name, one in zip(names, inputs, strict=False) if _is_float(one)}
    operands = {**floats, **{f"self.{_pathed(name)}": value for name, value in module.named_parameters()}}
    found: Kept = {_key(module, name): [] for name in inner}
    for source, operand in operands.items() if inner else ():
        module.requires_grad_(requires_grad=False)
        given = [one.detach().clone() if _is_float(one) else one for one in inputs]
        (given[names.index(source)] if source in floats else operand).requires_grad_()
        places: set[int] = set()

        def pack(saved: torch.Tensor, places: set[int] = places) -> torch.Tensor:
            places.add(saved.data_ptr())
            return saved

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
            module(*given, **options)
        for name, value in inner.items():
            if value.data_ptr() in places:
                found[_key(module, name)].append(source)
    yield {key: [*dict.fromkeys(sources)] for key, sources in found.items()}


def _key(module: nn.Module, name: str) -> tuple[str, str]:
    """Return the path of a parameter, and whether its module keeps a view of it, or does not use its value."""
    owner, _, leaf = name.rpartition(".")
    classes = [f"torch.nn.{cls.__name__}" for cls in type(module.get_submodule(owner)).__mro__]
    is_view = any(f"self.{leaf}" in views().get(cls, ()) for cls in classes)
    is_unused = any(unused().get(cls, {}).get(f"self.{leaf}") is False for cls in classes)
    return _pathed(name), "view" if is_view else "unused" if is_unused else ""


def _is_float(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _pathed(name: str) -> str:
    return _PLACE.sub("each", name)
