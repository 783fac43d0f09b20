"""Indices of tensors: whether one is constant, selects everything, makes a view, or leaves gaps in memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from inplace_lint.domain import origins, products, traits
from inplace_lint.domain.heap import ListObject, Part, Step, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Ref, SliceValue, Sym, Three, Tuple, Value
from inplace_lint.interp.frame import Arguments

DOTS = Const(...)
WHOLE = SliceValue(NONE, NONE, NONE)
ADDED = "None"  # the op of a step that only adds axes
_ARRAY, _TUPLE = "array", "tuple"


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


def is_row(state: State, part: Value) -> bool:
    """Check whether a part of an index certainly is one whole number: a tensor without axes is read as one."""
    if isinstance(part, Const):
        return type(part.value) is int
    tensor = state.tensor(part)
    if tensor is not None:
        return _is_number(tensor)
    return isinstance(part, Sym) and part.kind == "number"


def _is_number(tensor: Tensor) -> bool:
    """Check whether a tensor that is an index is read as the number that it holds: other dtypes are refused."""
    return tensor.rank == 0 and tensor.dtype in {"int", "unknown"}


def takes_one(state: State, part: SliceValue) -> bool:
    """Check whether a slice takes one element of an axis, if that is long enough: `:1`, `-1:`, `i : i + 1`."""
    if _skips(part):
        return False
    lower = Const(0) if part.lower == NONE else part.lower
    if part.upper == NONE:
        return lower == Const(-1)
    if isinstance(lower, Const) and isinstance(part.upper, Const):
        first, end = lower.value, part.upper.value
        return isinstance(first, int) and isinstance(end, int) and end - first == 1 and end != 0
    return isinstance(part.upper, Sym) and state.symbols.key(part.upper) == (origins.BINARY, "+", lower, Const(1))


def axes_named(state: State, index: Value | None) -> int | None:
    """
    Return how many axes an index names, if these are all of the tensor's; None if there may be more.

    IMPRECISE: one that ends in `:`, which says nothing of that axis, is taken to name all of them.
    """
    items = [item for item in index.items if item != NONE] if isinstance(index, Tuple) and index.exact else []
    ends = len(items) > 1 and isinstance(items[-1], SliceValue) and is_whole(items[-1])
    return len(items) if ends and all(isinstance(one, SliceValue) or is_row(state, one) for one in items) else None


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
        return is_list(state, index) or _is_compared(state, index) or has_axes(state, index)
    return tensor.sure and (tensor.dtype == "bool" or (tensor.rank or 0) > 0)


def note_axes(state: State, says: str, arguments: Arguments, result: Sym) -> None:
    """
    Remember that a call returned an array with axes, as an index positions or a mask: what they take is a copy.

        rows = np.arange(4)                 # says "array"
        rows = np.random.choice(10, 4)      # says "size 1": a number without this argument, which may be positional
        rows, columns = np.nonzero(mask)    # says "tuple"
        rows, columns = np.where(mask)      # says "tuple 1": with one argument only
    """
    name, _, number = says.partition(" ")
    if name == _TUPLE:
        if not number or len(arguments.values) == int(number):
            state.set_trait(traits.AXES, result.id, False)
        return
    given = arguments.positional[int(number) :][:1] if number else ()
    passed = (*given, *(value for key, value in arguments.keywords if key == name))
    if name == _ARRAY or any(value != NONE for value in passed):
        state.set_trait(traits.AXES, result.id, True)


def has_axes(state: State, value: object) -> bool:
    """Check whether an index certainly is an array with axes: one of positions, or a mask."""
    if not isinstance(value, Sym) or value.kind != "array":
        return False
    match state.symbols.key(value):
        case (origins.ITEM, Sym() as outer, index):
            if state.trait(traits.AXES, outer.id) is False:
                return isinstance(index, Const)
            return has_axes(state, outer) and (isinstance(index, SliceValue) or has_axes(state, index))
        case (origins.BINARY | origins.ARITHMETIC, _, left, right):
            return has_axes(state, left) or has_axes(state, right)
        case _:
            return state.trait(traits.AXES, value.id) is True


def is_list(state: State, index: Value) -> bool:
    """Check whether an index is a list of positions; one with a slice in it is read as a tuple."""
    inner = state.object(index)
    return isinstance(inner, ListObject) and not any(isinstance(item, SliceValue) for item in inner.items)


def _is_compared(state: State, index: Value) -> bool:
    """Check whether an index is what a comparison returns: a mask, or a truth value, which is none of a row."""
    key = state.symbols.key(index) if isinstance(index, Sym) else None
    return isinstance(key, tuple) and key[0] in {origins.COMPARE, origins.NOT}


def _is_slice(state: State, index: Sym) -> bool:
    """Check whether an index is a slice of what is not known: a list of positions rather than a number."""
    match state.symbols.key(index):
        case (origins.ITEM, _, SliceValue()):
            return True
        case _:
            return False


def is_basic_index(state: State, value: Value) -> bool | None:
    """Return whether an index consists of ints, slices, None and `...`, so that it makes a view; None if unknown."""
    if isinstance(value, Tuple):
        parts = [is_basic_index(state, item) for item in value.items]
        return False if False in parts else None if None in parts else True
    if isinstance(value, Const):
        return not isinstance(value.value, bool)
    tensor = state.tensor(value)
    if tensor is not None and _is_number(tensor):
        return True
    if isinstance(value, Sym):
        if state.tensor(value) is not None or value.kind in {"tensor", "sequence"} or _is_compared(state, value):
            return False
        if _is_slice(state, value):
            return False
        return True if value.kind == "number" else False if has_axes(state, value) else None
    return not isinstance(value, Ref)


def items_of(step: Step) -> list[Value]:
    """Return what an index says of each axis, without new ones; `...` where it skips some."""
    index = step[2][0] if step[2] else NONE
    items = index.items if isinstance(index, Tuple) else (index,)
    while items and items[-1] == DOTS:
        items = items[:-1]
    return [item for item in items if item != NONE]


def filled(items: Sequence[Value], rank: int) -> list[Value]:
    """Return what an index says of each of so many axes: `:` for those that its dots, or nothing, stand for."""
    named = [item for item in items if item != DOTS]
    at = list(items).index(DOTS) if DOTS in items else len(named)
    return [*named[:at], *[WHOLE] * (rank - len(named)), *named[at:]]


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
    return True if steps is not None and all(_keeps_order(step, last) for step in steps) else None


def keeps_axes(tensor: Tensor) -> bool:
    """Return whether the axes of a tensor certainly lie in memory in the order that they have."""
    if tensor.contiguous:
        return True
    steps = tensor.part
    return steps is not None and all(move != "axes" or op == ADDED for move, op, _ in steps)


def keeps_rows(state: State, part: Part) -> Three:
    """
    Return whether all axes of a part of a dense tensor but the last one merge without a copy.

    IMPRECISE: it has three axes, or four; None where that decides, and for three it is so.
    """
    of_three, of_four = (all(_merges(state, step, rank) for step in part) for rank in (3, 4))
    return None if of_three and not of_four else of_three


def _merges(state: State, step: Step, rank: int) -> bool:
    """Check whether a step on a tensor with so many axes leaves such as merge, but for the last one."""
    move, op, _ = step
    if move != "rows":
        return move in {"row", "all"} or op == ADDED
    items = filled(items_of(step), rank)
    places = [at for at, item in enumerate(items) if not is_row(state, item)]
    if len(places) <= products.MATRIX:
        return True
    longer = [at for at in places[:-1] if not _is_one(state, items[at])]
    pairs = itertools.pairwise(longer)
    return all(is_whole(items[after]) and after - before == 1 and not _skips(items[before]) for before, after in pairs)


def _is_one(state: State, item: Value) -> bool:
    return isinstance(item, SliceValue) and takes_one(state, item)


def _skips(item: Value) -> bool:
    """Check whether a slice may leave out elements between those that it takes."""
    return isinstance(item, SliceValue) and item.step not in {NONE, Const(1)}


def _keeps_order(step: Step, last: int) -> bool:
    """Check whether a step leaves no gaps and moves none but the axes at the end."""
    move, op, arguments = step
    if move == "axes":
        ends = {Const(-number) for number in range(1, last + 1)}
        return op == ADDED or (len(ends) > 1 and ends.issuperset(arguments))
    return move in {"row", "all"} or (move == "rows" and not leaves_gaps(step))
