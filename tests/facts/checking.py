"""Compares what one call really did with what its fact says: saves, writes, what came back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from generators.shapes import Given, agrees
from inplace_lint.domain.shape_rules import axes_of
from inplace_lint.knowledge.op import Op, ReturnFact
from tests.facts.calling import REFUSED, Called, kind_of, tensors_in, version_of

MODIFIED = "modified by an inplace operation"
Again = Callable[[], Called]


def raise_version(tensor: torch.Tensor) -> None:
    after = (version_of(tensor) + 1,)
    torch._C._autograd._unsafe_set_version_counter((tensor,), after)  # noqa: SLF001 - the one way to count


def storage(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage()._cdata  # noqa: SLF001 - what `is` is for tensors
    except NotImplementedError:  # a sparse or opaque tensor shares nothing that could be asked for
        return id(tensor)


def problems(op: Op, again: Again) -> Iterator[str]:
    """Give a sentence for everything in which a call and its fact disagree; `again` makes the same call anew."""
    called = again()
    yield from _writes(op, called)
    yield from _returns(op, called)
    yield from _saves(op, again)


def _writes(op: Op, called: Called) -> Iterator[str]:
    said = {write.to for write in op.writes if write.counted and called.holds(write.condition)}
    for name, before in called.versions.items():
        moved = any(version_of(one) != before for one in called.tensors(name)[:1])
        if moved and name not in said:
            yield f"writes `{name}`, which no fact says"
        if not moved and name in said:
            yield f"does not write `{name}`"


def _returns(op: Op, called: Called) -> Iterator[str]:
    fact = next((one for one in op.returns if called.holds(one.condition)), None)
    if fact is not None:
        yield from _return(op, fact, called, called.result)


def _return(op: Op, fact: ReturnFact, called: Called, result: Any) -> Iterator[str]:
    match fact.kind:
        case "tuple" | "list":
            yield from _several(op, fact, called, result)
        case "value":
            yield from _value(fact, result)
        case "maybe":
            if not isinstance(result, torch.Tensor | tuple | list):
                yield f"returns {type(result).__name__}, not a tensor"
        case _ if not isinstance(result, torch.Tensor):
            if fact.view != "untracked":
                yield f"returns {type(result).__name__}, not a tensor"
        case "fresh":
            yield from _fresh(fact, called, result)
        case "view":
            yield from _view(op, fact, called, result)
        case kind:
            name = op.args[0].name if kind == "self" else kind
            if not any(result is one for one in called.tensors(name)):
                yield f"does not return `{name}` itself"


def _several(op: Op, fact: ReturnFact, called: Called, result: Any) -> Iterator[str]:
    if isinstance(result, Iterator):
        result = tuple(result)
    if not isinstance(result, tuple | list):
        yield f"returns {type(result).__name__}, not several"
        return
    items = fact.items if fact.kind == "tuple" else fact.items * len(result)
    if len(items) != len(result):
        yield f"returns {len(result)} results, not {len(items)}"
    for item, one in zip(items, result, strict=False):
        if one is not None:
            yield from _return(op, item, called, one)


def _value(fact: ReturnFact, result: Any) -> Iterator[str]:
    kinds = {
        "int": int,
        "float": int | float | complex,
        "bool": bool,
        "str": str,
        "none": type(None),
        "shape": torch.Size,
    }
    expected = kinds.get(fact.value)
    if expected is not None and not isinstance(result, expected):
        yield f"returns {type(result).__name__}, not {fact.value}"


def _fresh(fact: ReturnFact, called: Called, result: torch.Tensor) -> Iterator[str]:
    inputs = [one for name in called.values for one in called.tensors(name)]
    if result.numel() and any(storage(one) == storage(result) for one in inputs if one.layout is result.layout):
        yield "returns a view, not a fresh tensor"
    if fact.dtype in {"float", "int", "bool", "complex"} and kind_of(result) != fact.dtype:
        yield f"returns {kind_of(result)}, not {fact.dtype}"
    yield from _shape(fact, called, result)
    if fact.leaf and not result.is_leaf:
        yield "does not return a leaf"


def _shape(fact: ReturnFact, called: Called, result: torch.Tensor) -> Iterator[str]:
    if fact.shape is None:
        return
    names = {name: called.value(name) for name in fact.shape.args if isinstance(name, str)}
    given = Given({**{str(name): name for name in fact.shape.args}, **called.values, **names})
    axes = None if fact.shape.rule in {"index", "nested", "einsum"} else axes_of(fact.shape, given)  # of no numbers
    if axes is not None and not agrees(axes, result.shape):
        yield f"returns the shape {list(result.shape)}, not {[axis.size for axis in axes]}"


def _view(op: Op, fact: ReturnFact, called: Called, result: torch.Tensor) -> Iterator[str]:
    sources = called.tensors(fact.of or op.args[0].name)
    if not sources or not any(storage(one) == storage(result) for one in sources):
        yield "returns no view"
        return
    yield from _shape(fact, called, result)
    before = version_of(sources[0])
    raise_version(result)
    if (version_of(sources[0]) != before) == (fact.view in {"data", "untracked"}):
        yield f"shares its counter otherwise than a view of kind {fact.view}"


def _saves(op: Op, again: Again) -> Iterator[str]:
    called = again()
    roots = [one for one in tensors_in(called.result) if one.requires_grad]
    if not roots:
        return
    if op.grads == () and op.history != "keep_old" and not all(root.is_leaf for root in roots):
        yield "gives a result that requires grad, though no gradient flows"
    written = {write.to for write in op.writes}
    said = {save.of for save in op.saves if not save.copy and called.holds(save.condition)}
    inputs = [name for name, value in called.values.items() if tensors_in(value) and name not in written]
    state = [f"self.{part.name}" for part in op.state if called.module is not None]
    aliases = {storage(one) for name in inputs for one in called.tensors(name)}
    outputs = [
        f"out{i}"
        for i, one in enumerate(tensors_in(called.result)[:4])
        if one.dim() < 9 and storage(one) not in aliases
    ]
    for target in [*inputs, *(name for name in state if name not in written), *outputs]:
        kept = _keeps(again(), target)
        if kept is not None and kept != (target in said):
            yield f"keeps `{target}`, which no fact says" if kept else f"does not keep `{target}`"


def _keeps(called: Called, target: str) -> bool | None:
    results = tensors_in(called.result)
    hit = (
        results[int(target[3:]) :][:1] if target[3:].isdigit() and target.startswith("out") else called.tensors(target)
    )
    if not hit:
        return None
    for one in hit:
        raise_version(one)
    roots = [one for one in results if one.requires_grad]
    try:
        torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
    except REFUSED as error:
        if MODIFIED in str(error):
            return True
        if "modified inplace" not in str(error):
            return None
        # One of several views complains that its base changed: inside the call that is a save, of a result it is not.
        return not {storage(one) for one in hit} & {storage(one) for one in results}
    return False
