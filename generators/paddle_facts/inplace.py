"""What the forms of Paddle's functions that end in an underscore write, check, keep and record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import paddle

from generators.paddle_facts.samples import Sample
from generators.paddle_facts.trying import Row, arguments_of, bump, found, kept_arguments, names_of, raises, source

_HOMES = ("paddle.Tensor", "paddle", "paddle.nn.functional")
_LEAF = "can't use inplace strategy"
_WIDER = "is different from that of inplace tensor"
_NUMBER = "'int' object has no attribute 'shape'"
_MIXED = "Type promotion only support"
_PAIR = 2


def entries(sample: Sample, owned: frozenset[str]) -> Iterator[Row]:
    """Yield the entry of the form in place of a function; nothing where there is none that counts its write."""
    spellings = [f"{home}.{sample.name}_" for home in _HOMES]
    free = [spelling for spelling in spellings if found(spelling) is not None and spelling not in owned]
    if not free:
        return
    call = found(free[0])
    try:
        names = names_of(free[0], sample)
        row = seen(call, sample, names)
    except Exception as error:  # noqa: BLE001 - whatever it is, there is no fact then
        print(f"no fact of {free[0]}: {type(error).__name__}")
        return
    if row is not None:
        head: Row = {"op": free[0]}
        head |= {"same": free[1:]} if free[1:] else {}
        yield head | {"args": arguments_of(names)} | row | source()


def seen(call: Callable[..., Any], sample: Sample, names: list[str]) -> Row | None:
    """Return what a call does; None where it writes nothing that counts."""
    given = sample.arguments()
    first, before = given[0], _node(given[0])
    result = call(*given)
    if first.inplace_version == 0:
        return None
    checks = list(_checks(call, sample))
    row: Row = {"writes": [{"to": names[0], "counted": True, "checks": checks}]}
    saves = [save for save in kept_arguments(call, sample, names) if save["of"] != names[0]]
    if raises(lambda: bump(result), call(*sample.arguments()) if result is not first else result):
        saves.append({"of": "out0"})
    row |= {"saves": saves} if saves else {}
    row |= {} if _differentiable(call, sample) else {"grads": []}
    returns = {"is": names[0]} if result is first else {"is": "fresh"}
    kept_old = before is not None and _node(first) == before
    history = "keep_old" if kept_old and "grads" not in row else "keep_base"
    return row | {"returns": [returns], "history": history}


def _node(tensor: paddle.Tensor) -> object:
    """Identify the node that gives a tensor its gradient."""
    return None if tensor.grad_fn is None else tensor.grad_fn.node_ptr()


def _differentiable(call: Callable[..., Any], sample: Sample) -> bool:
    """Return whether backward gets from the result to a leaf."""
    leaves, given = sample.inputs()
    if not leaves:
        return False
    result = call(*given, *sample.others())
    if "float" not in str(result.dtype) or result.stop_gradient:
        return False
    result.sum().backward()
    return any(leaf.grad is not None for leaf in leaves)


def _checks(call: Callable[..., Any], sample: Sample) -> Iterator[str]:
    """Return the checks that a write goes through, each seen to refuse a call."""
    leaves, tensors = sample.inputs()
    if leaves and _refuses(call, _LEAF, leaves[0], *tensors[1:], *sample.others()):
        with paddle.no_grad():
            (leaf, *_), tensors = sample.inputs()
            always = _refuses(call, _LEAF, leaf, *tensors[1:], *sample.others())
        yield "leaf_always" if always else "leaf"
    # An operator that gets too few arguments reads what lies behind them: only those that take two are given two.
    if sample.tensors == _PAIR and not sample.rest:
        if _refuses(call, _NUMBER, sample.made(), 2):
            yield "operand"
        wide = sample.made()
        if _refuses(call, _WIDER, sample.made()[0], wide):
            yield "broadcast"
        other = "int64" if sample.dtype == "float32" else "float32"
        if _refuses(call, _MIXED, sample.made(), sample.made().astype(other)):
            yield "mixed"


def _refuses(call: Callable[..., Any], words: str, *given: Any) -> bool:  # noqa: ANN401 - tensors and what follows them
    try:
        call(*given)
    except (ValueError, TypeError, RuntimeError, AttributeError) as error:
        return words in str(error)
    return False
