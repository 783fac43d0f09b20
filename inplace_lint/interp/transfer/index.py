"""Indices of tensors: whether one is constant, selects everything, makes a view, or leaves gaps in memory."""

from __future__ import annotations

from inplace_lint.domain import origins
from inplace_lint.domain.heap import ListObject, Step, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Ref, SliceValue, Sym, Three, Tuple, Value

DOTS = Const(...)
ADDED = "None"  # the op of a step that only adds axes


def takes_all(index: Value) -> bool:
    """Check whether an index certainly selects everything and adds no axis: `h[...]`, `h[:, :]`."""
    if isinstance(index, Tuple):
        return index.exact and all(is_whole(part) for part in index.items)
    return is_whole(index)


def is_whole(index: Value | None) -> bool:
    """Check whether an index takes a whole axis: `:` or `...`."""
    if isinstance(index, SliceValue):
        return all(bound == NONE for bound in (index.lower, index.upper, index.step))
    return isinstance(index, Const) and index.value is ...


def is_constant(value: Value) -> bool:
    """Check whether all that an index is made of is known."""
    if isinstance(value, SliceValue):
        return all(isinstance(part, Const) for part in (value.lower, value.upper, value.step))
    return isinstance(value, Const) or (isinstance(value, Tuple) and all(is_constant(item) for item in value.items))


def copies(state: State, index: Value) -> bool:
    """Check whether an index certainly takes single elements, so that the result is a copy: a mask, or positions."""
    if isinstance(index, Tuple):
        return any(copies(state, part) for part in index.items)
    if isinstance(index, Const):
        return isinstance(index.value, bool)
    tensor = state.tensor(index)
    if tensor is None:
        return isinstance(state.object(index), ListObject) or _is_compared(state, index)
    return tensor.sure and (tensor.dtype == "bool" or (tensor.rank or 0) > 0)


def _is_compared(state: State, index: Value) -> bool:
    """Check whether an index is what a comparison returns: a mask, or a truth value, which is none of a row."""
    key = state.symbols.key(index) if isinstance(index, Sym) else None
    return isinstance(key, tuple) and key[0] in {origins.COMPARE, origins.NOT}


def is_basic_index(state: State, value: Value) -> bool | None:
    """Return whether an index consists of ints, slices, None and `...`, so that it makes a view; None if unknown."""
    if isinstance(value, Tuple):
        parts = [is_basic_index(state, item) for item in value.items]
        return False if False in parts else None if None in parts else True
    if isinstance(value, Const):
        return not isinstance(value.value, bool)
    tensor = state.tensor(value)
    if tensor is not None and tensor.rank == 0 and tensor.dtype == "int":
        return True  # read at once, as the number that it holds
    if isinstance(value, Sym):
        if state.tensor(value) is not None or value.kind in {"tensor", "sequence"} or _is_compared(state, value):
            return False
        return True if value.kind == "number" else None
    return not isinstance(value, Ref)


def items_of(step: Step) -> list[Value]:
    """Return what an index says of each axis, without new ones; `...` where it skips some."""
    index = step[2][0] if step[2] else NONE
    items = index.items if isinstance(index, Tuple) else (index,)
    while items and items[-1] == DOTS:
        items = items[:-1]
    return [item for item in items if item != NONE]


def leaves_gaps(step: Step) -> bool:
    """Check whether an index takes a part of an axis, and several elements of one before it."""
    several = False
    for item in items_of(step) if step[0] == "rows" else ():
        if several and item != DOTS and not is_whole(item):
            return True
        several = several or item == DOTS or not isinstance(item, Const)
    return False


def is_dense(tensor: Tensor, last: int = 0) -> Three:
    """
    Return whether a tensor is dense; None if unknown. A new tensor is, unless a fact says other.

    `last`: it is enough that all axes but so many at the end merge without a copy.
    """
    if tensor.contiguous or (tensor.contiguous is not None and not last):
        return tensor.contiguous
    if tensor.base is None:
        return None if tensor.contiguous is False else True
    steps = tensor.part
    if steps is not None and last and _takes_of_last(steps[-1]):
        steps = steps[:-1]
    return True if steps is not None and all(_keeps_order(step, last) for step in steps) else None


def _takes_of_last(step: Step) -> bool:
    """Check whether an index takes a part of the last axis only: `x[..., :4]`."""
    match items_of(step) if step[0] == "rows" else []:
        case [first, _]:
            return first == DOTS
        case _:
            return False


def _keeps_order(step: Step, last: int) -> bool:
    """Check whether a step leaves no gaps and moves none but the axes at the end."""
    move, op, arguments = step
    if move == "axes":
        ends = {Const(-number) for number in range(1, last + 1)}
        return op == ADDED or (len(ends) > 1 and ends.issuperset(arguments))
    return move in {"row", "all"} or (move == "rows" and not leaves_gaps(step))
