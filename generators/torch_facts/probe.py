"""
Runs one call of torch and observes it: what backward keeps, what was written, what came back.

Whether a tensor is kept is asked by raising its version after the forward and running backward: torch minds, or not.

    y = x.sigmoid()
    raise_version(y)
    y.sum().backward()      # RuntimeError: … modified by an inplace operation   →   sigmoid keeps its result
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from generators.shapes import shapes

MODIFIED = "modified by an inplace operation"


@dataclass(frozen=True, slots=True)
class Result:
    """
    What one returned object is: `kind` as in the tables.

    `of` names the argument of a view or of an identity; `dtype` and `model` are the classes of the result and of the
    first tensor through which a gradient flows; `shapes` are the rules that predict its size. `settled`: a new tensor
    is contiguous in whatever order the first argument lies in memory.
    """

    kind: str
    of: str = ""
    view: str = ""
    dtype: str = ""
    model: str = ""
    rank: int = -1
    rank_in: int = -1
    size: tuple[int, ...] = ()
    shapes: tuple[str, ...] = ()
    contiguous: bool | None = None
    moves: str | None = None
    of_dense: bool = True
    settled: bool | None = None
    items: tuple[Result, ...] = ()
    value: str = ""


@dataclass(slots=True)
class Observation:
    """
    What one call did; `needs[t][a]` says whether `t` is kept when only `a` requires grad.

    `hands`: what the gradients of arguments are: `same` for that of the result, uncopied, `expanded` for one whose
    elements repeat those of that, otherwise empty.
    """

    features: Mapping[str, object]
    tensors: tuple[str, ...]
    floats: tuple[str, ...]
    flows: tuple[str, ...] = ()
    hands: dict[str, str] = field(default_factory=dict)
    kept: dict[str, bool] = field(default_factory=dict)
    needs: dict[str, dict[str, bool]] = field(default_factory=dict)
    writes: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    result: Result = Result("value", value="unknown")


@dataclass(frozen=True, slots=True)
class Shape:
    """What guards can ask of a tensor argument."""

    ndim: int
    contiguous: bool
    dtype: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose tensors can be made anew; `inner` are arguments that must not be leaves, since they are written."""

    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    names: Sequence[str]
    inner: frozenset[str] = frozenset()
    extra: Mapping[str, object] = field(default_factory=dict)

    def make(self, only: str | None = None) -> tuple[list[Any], dict[str, Any], list[tuple[str, torch.Tensor]]]:
        """Return fresh arguments, and the tensors among them by argument name; `only` that one requires grad."""
        slots: list[tuple[str, torch.Tensor]] = []

        def anew(name: str, value: object) -> object:
            if not isinstance(value, torch.Tensor):
                return value
            wants = value.is_floating_point() or value.is_complex()
            wants = wants and (value.requires_grad if only is None else name == only)
            copy = _copy(value).requires_grad_(wants)
            if name in self.inner and wants:
                copy = copy.clone(memory_format=torch.preserve_format)
            slots.append((name, copy))
            return copy

        def each(name: str, value: object) -> object:
            nests = isinstance(value, (list, tuple, dict))  # `tree_map` takes a while to see that nothing does
            return tree_map(partial(anew, name), value) if nests else anew(name, value)

        args = [each(name, value) for name, value in zip(self.names, self.args, strict=True)]
        return args, {name: each(name, value) for name, value in self.kwargs.items()}, slots

    def keeps(self, target: str, only: str | None = None) -> bool | None:
        """Return whether backward minds a new version of `target`; None when nothing requires grad."""
        args, kwargs, slots = self.make(only)
        results = tensors_of(self.function(*args, **kwargs))
        roots = [result for result in results if result.requires_grad]
        if not roots:
            return None
        if is_result(target):
            hit = results[int(target[3:]) : int(target[3:]) + 1]
        else:
            hit = [tensor for name, tensor in slots if name == target]
        for tensor in hit:
            raise_version(tensor)
        try:
            torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
        except RuntimeError as error:
            if "is not implemented" in str(error):
                return False
            if MODIFIED in str(error):
                return True
            if "modified inplace" not in str(error):
                raise
            # One of several views complains that its base changed: within the call, that is a save.
            return not {_storage(tensor) for tensor in hit} & {_storage(result) for result in results}
        return False


LIKE = ("like(", "broadcast(")
_AXES = 4


def _copy(value: torch.Tensor) -> torch.Tensor:
    """Copy a tensor with its strides, so that what depends on contiguity shows."""
    if value.layout is not torch.strided or value.is_contiguous() or value.numel() == 0:
        return value.detach().clone()
    if any(stride == 0 for stride in value.stride()):
        return value.detach().clone(memory_format=torch.contiguous_format)
    return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype).copy_(value.detach())


def is_result(target: str) -> bool:
    """Return whether a target is `out0`, `out1`, … and not an argument such as `out_proj_weight`."""
    return target.startswith("out") and target[3:].isdigit()


def raise_version(tensor: torch.Tensor) -> None:
    """Count one write more on a tensor without writing it."""
    torch._C._autograd._unsafe_set_version_counter((tensor,), (tensor._version + 1,))


def tensors_of(value: object) -> list[torch.Tensor]:
    """List the tensors in a nested result, in order."""
    return [entry for entry in tree_flatten(value)[0] if isinstance(entry, torch.Tensor)]


def observe(call: Call) -> Observation | None:
    """
    Return what the call does; None for empty tensors, which take shortcuts.

    Raises: whatever the call raises.
    """
    args, kwargs, slots = call.make()
    if any(tensor.numel() == 0 for _, tensor in slots):
        return None
    versions = [tensor._version for _, tensor in slots]
    values = [tensor.detach().clone() for _, tensor in slots]
    raw = call.function(*args, **kwargs)
    names = tuple(dict.fromkeys(name for name, _ in slots))
    written = [name for (name, t), v in zip(slots, versions, strict=True) if t._version != v]
    unseen = [
        name
        for (name, t), v, old in zip(slots, versions, values, strict=True)
        if t._version == v and t.shape == old.shape and not torch.allclose(t.detach(), old, equal_nan=True)
    ]
    seen = Observation(
        features=_features(call),
        tensors=names,
        floats=tuple(dict.fromkeys(name for name, tensor in slots if tensor.requires_grad)),
        writes=tuple(dict.fromkeys(written)),
        unseen=tuple(dict.fromkeys(unseen)),
    )
    results = tensors_of(raw)
    if any(result.requires_grad for result in results):
        if call.keeps("nothing"):
            return None
        seen.flows = tuple(name for name in names if _flows(call, name))
        seen.hands = _hands(call, seen)
        _ask(call, seen, _targets(seen, slots, results))
    seen.result = describe(call, raw, slots, seen)
    return seen


def _targets(seen: Observation, slots: list[tuple[str, torch.Tensor]], results: list[torch.Tensor]) -> list[str]:
    storages = {_storage(tensor) for name, tensor in slots if name not in seen.writes}
    outputs = [f"out{i}" for i, result in enumerate(results[:8]) if _storage(result) not in storages]
    return [*(name for name in seen.tensors if name not in seen.writes), *outputs]


def _ask(call: Call, seen: Observation, targets: list[str]) -> None:
    for target in targets:
        seen.kept[target] = bool(call.keeps(target))
        if len(seen.flows) > 1:
            needs = {name: bool(call.keeps(target, name)) for name in seen.flows}
            seen.kept[target] = seen.kept[target] or any(needs.values())
            if seen.kept[target]:
                seen.needs[target] = needs


def _flows(call: Call, name: str) -> bool:
    """Return whether a gradient reaches that argument when it alone requires grad."""
    args, kwargs, slots = call.make(name)
    if not any(tensor.requires_grad for _, tensor in slots):
        return False
    try:
        roots = [result for result in tensors_of(call.function(*args, **kwargs)) if result.requires_grad]
        if roots:
            torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
    except RuntimeError as error:
        # What lacks a formula altogether still gives a result that requires grad; what lacks one for this argument
        # is named by the argument.
        missing = re.search(r"derivative for '?(.+?)'? is not implemented", str(error))
        return missing is not None and missing.group(1) not in {*call.names, *call.kwargs, "self"}
    return bool(roots)


def _hands(call: Call, seen: Observation) -> dict[str, str]:
    """Return how backward hands the gradient of the only result on to the arguments, as `Observation` says."""
    args, kwargs, slots = call.make()
    # What is written is no leaf, but a clone of one: that has the same gradient.
    leaves = [
        (name, tensor if tensor.is_leaf or tensor.grad_fn is None else tensor.grad_fn.next_functions[0][0].variable)
        for name, tensor in slots
        if tensor.requires_grad and name in seen.flows
    ]
    roots = [result for result in tensors_of(call.function(*args, **kwargs)) if result.requires_grad]
    if len(roots) != 1 or not leaves:
        return {}
    given = torch.ones_like(roots[0])
    try:
        found = torch.autograd.grad(roots, [leaf for _, leaf in leaves], [given], allow_unused=True)
    except RuntimeError:  # what has no formula for some argument, as in `_flows`
        return {}
    values = _values(call)
    return {
        name: "" if one is None else _how(one, given)
        for (name, leaf), one in zip(leaves, found, strict=True)
        if leaf.numel() >= max(given.numel(), 2) and isinstance(values.get(name), torch.Tensor)
    }


def _how(one: torch.Tensor, given: torch.Tensor) -> str:
    if _storage(one) != _storage(given) or one.data_ptr() != given.data_ptr() or one.numel() < given.numel():
        return ""
    repeats = any(stride == 0 and size > 1 for stride, size in zip(one.stride(), one.size(), strict=True))
    return "expanded" if repeats else "same" if one.numel() == given.numel() else ""


def _features(call: Call) -> dict[str, object]:
    return {
        name: Shape(value.dim(), _contiguous(value), kind_of(value)) if isinstance(value, torch.Tensor) else value
        for name, value in _values(call).items()
    }


def _values(call: Call) -> dict[str, object]:
    return {**call.extra, **dict(zip(call.names, call.args, strict=True)), **call.kwargs}


def _contiguous(value: torch.Tensor) -> bool:
    return value.layout is torch.strided and value.is_contiguous()


def kind_of(tensor: torch.Tensor) -> str:
    """Return the dtype class of a tensor: float, complex, bool or int."""
    if tensor.is_complex():
        return "complex"
    if tensor.is_floating_point():
        return "float"
    return "bool" if tensor.dtype is torch.bool else "int"


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata if tensor.layout is torch.strided else id(tensor)


def describe(call: Call, raw: object, slots: list[tuple[str, torch.Tensor]], seen: Observation) -> Result:
    """Describe a returned object: a fresh tensor, a view, an argument, a container, a Python value."""
    if isinstance(raw, torch.Tensor):
        return _describe_tensor(call, raw, slots, seen)
    if isinstance(raw, torch.Size):
        return Result("value", value="shape")
    if isinstance(raw, list | tuple):
        items = tuple(describe(call, item, slots, seen) for item in raw)
        return Result("list" if isinstance(raw, list) else "tuple", items=items)
    kinds = {bool: "bool", int: "int", float: "float", str: "str", type(None): "none", torch.dtype: "dtype"}
    return Result("value", value=kinds.get(type(raw), "device" if isinstance(raw, torch.device) else "unknown"))


def _describe_tensor(
    call: Call, result: torch.Tensor, slots: list[tuple[str, torch.Tensor]], seen: Observation
) -> Result:
    model = next((t for name, t in slots if name in seen.flows), slots[0][1] if slots else None)
    dense = all(_contiguous(tensor) for _, tensor in slots)
    about: dict[str, Any] = {"dtype": kind_of(result), "rank": result.dim(), "contiguous": _contiguous(result)}
    about["of_dense"] = dense
    about |= {"size": tuple(result.shape), "shapes": tuple(shapes(_values(call), result.shape))}
    if model is not None:
        about |= {"model": kind_of(model), "rank_in": model.dim()}
    for name, tensor in slots:
        if tensor is result:
            return Result("arg", name, **about)
    for name, tensor in slots:
        if _storage(tensor) == _storage(result):
            return Result("view", name, _view_kind(call, name, tensor, result), moves=_moves(tensor, result), **about)
    return Result("fresh", **about, settled=_settled(call) if dense and result.dim() > 1 else None)


def _settled(call: Call) -> bool | None:
    """
    Return whether the one result is contiguous for each order of the first tensor in memory; None if unknown.

    It is asked with four axes as well, where `channels_last` is an order that some operations keep.
    """
    position = next((at for at, value in enumerate(call.args) if _tensors(value)), None)
    given = [] if position is None else [tensor.detach() for tensor in _tensors(call.args[position])]
    if position is None or len({tensor.dim() for tensor in given}) > 1 or given[0].dim() > _AXES:
        return None
    grown = given
    while grown[0].dim() < _AXES:
        grown = [torch.stack([tensor, tensor]) for tensor in grown]
    found = _orders(call, position, grown)
    return False if False in {*found, *_orders(call, position, given)} else True if found else None


def _tensors(value: object) -> list[torch.Tensor]:
    """Return the tensors of an argument: it, or what a sequence has, unless that has anything else."""
    values = value if isinstance(value, list | tuple) else [value]
    return [] if not all(isinstance(one, torch.Tensor) for one in values) else list(values)


def _orders(call: Call, position: int, given: list[torch.Tensor]) -> set[bool]:
    """Return whether the result is contiguous, for each order of an argument; nothing where the call is refused."""
    found: set[bool] = set()
    own = _tensors(call.args[position])
    for order in permutations(range(given[0].dim())):
        back = sorted(range(given[0].dim()), key=order.__getitem__)
        turned = [tensor.permute(order).contiguous().permute(back) for tensor in given]
        if any(tensor.is_contiguous() for tensor in turned):
            continue
        turned = [tensor.requires_grad_(one.requires_grad) for tensor, one in zip(turned, own, strict=True)]
        value = turned[0] if isinstance(call.args[position], torch.Tensor) else turned
        changed = [*call.args[:position], value, *call.args[position + 1 :]]
        try:
            args, kwargs, _ = Call(call.function, changed, call.kwargs, call.names).make()
            results = tensors_of(call.function(*args, **kwargs))
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError, AssertionError):
            return set()
        if len(results) != 1:
            return set()
        found.add(results[0].is_contiguous())
    return found


def _moves(source: torch.Tensor, result: torch.Tensor) -> str | None:
    """
    Classify what a view does to the memory of its source: `axes` and `all` keep all of it, `axes` in another order.

    Empty for a part of it, None for a source too small to tell.
    """
    if source.numel() < 2:  # noqa: PLR2004 - all views of one element are alike
        return None
    if source.data_ptr() != result.data_ptr() or source.numel() != result.numel():
        return ""
    pairs = [
        sorted(pair for pair in zip(tensor.stride(), tensor.size(), strict=True) if pair[1] > 1)
        for tensor in (source, result)
    ]
    if pairs[0] == pairs[1] and result.dim() >= source.dim() and source.stride() != result.stride():
        return "axes"
    return "all" if pairs[0] == pairs[1] or result.is_contiguous() else ""


def _view_kind(call: Call, name: str, source: torch.Tensor, result: torch.Tensor) -> str:
    before = source._version
    raise_version(result)
    if source._version == before:
        return "data"
    if not result._is_view():
        return "detach"
    if any(stride == 0 and size > 1 for stride, size in zip(result.stride(), result.size(), strict=True)):
        return "expanded"
    return "multi" if _refuses(call, name) else "single"


def _refuses(call: Call, name: str) -> bool:
    """Return whether a write to the first view that the call gives is refused as one of several."""
    inside = Call(call.function, call.args, call.kwargs, call.names, call.inner | {name})
    args, kwargs, _ = inside.make()
    try:
        tensors_of(call.function(*args, **kwargs))[0].add_(0)
    except RuntimeError as error:
        return "multiple views" in str(error)
    return False
