"""
Parts of storages: which part a view covers, as far as constants tell, and whether two views overlap partially.

    h[1:] += h[:-1]                       # rows 1 to n and 0 to n - 1
    m.unsqueeze(1).sub_(m.unsqueeze(2))   # all of it, the axes in another order
    w -= w[0]                             # all of it and its first row

PyTorch refuses these if both views are dense in memory. Two equal views are allowed, and views with gaps are not
checked. Source: ATen/MemoryOverlap.cpp, `get_overlap_status`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.domain.values import NONE, Const, SliceValue, Tuple, Value
from inplace_lint.interp.transfer import shapes
from inplace_lint.interp.transfer.index import is_constant, is_whole

if TYPE_CHECKING:
    from inplace_lint.domain.heap import Part, Step, Tensor
    from inplace_lint.interp.transfer.op_call import Call

_MANY = 1 << 20  # rows of a tensor whose length is unknown


def step(call: Call, moves: str, source: Tensor) -> Part | None:
    """Return the part of the storage that the view which a call creates covers; None if unknown."""
    if not moves or source.part is None:
        return None
    if moves == "row":  # which of them is unknown
        return (*source.part, (moves, "", ())) if _is_first(call) else None
    if moves == "all":
        return (*source.part, (moves, "", ()))
    names = [argument.name for argument in call.binding.op.args[1:] if not call.binding.tensors(argument.name)]
    arguments = tuple(call.binding.values[name] for name in names if name in call.binding.values)
    if not all(is_constant(value) for value in arguments):
        one = moves == "rows" and len(arguments) == 1 and shapes.is_row(call.state, arguments[0])
        return (*source.part, ("row", "", arguments)) if one else None
    if moves == "rows" and all(is_whole(value) for value in arguments):
        return source.part
    return (*source.part, (moves, "" if moves == "rows" else call.binding.op.name, arguments))


def keeps_repeats(call: Call, moves: str) -> bool:
    """Check whether a view of an expanded tensor still has several elements at one memory location."""
    if moves != "rows":
        return moves in {"all", "axes"}
    index = call.binding.value(call.binding.op.args[1].name)
    first = index.items[0] if isinstance(index, Tuple) and index.exact and index.items else index
    # IMPRECISE: the first axis is taken for the repeated one, so that `h[:, 0]` has repeats where the second one is.
    return first == NONE or (first is not None and is_whole(first))


def clash(written: Part | None, other: Part | None, *, expands: bool) -> bool:
    """
    Check whether two dense views of one storage certainly overlap without being equal.

    `expands`: an operand with fewer rows is expanded first, and then is not dense.
    """
    if written is None or other is None or written == other:
        return False
    shared = 0
    while shared < min(len(written), len(other)) and written[shared] == other[shared]:
        shared += 1
    if any(_rows(step) is None for step in written[:shared] if step[0] in {"row", "rows"}):
        return False
    left, right = _dense(written[shared:]), _dense(other[shared:])
    moves = {move for move, _, _ in left + right}
    if max(len(left), len(right)) > 1:
        return False
    if moves == {"axes"}:
        return not left or not right or _differ(left[0], right[0])
    if moves == {"row"}:
        one_is_all = not left or not right  # of two rows, nobody knows
        return one_is_all and not expands and all(move != "axes" for move, _, _ in written[:shared])
    if moves == {"rows"} and all(move != "axes" for move, _, _ in written[:shared]):  # transposed rows have gaps
        mine, others = (_rows(side[0]) if side else range(_MANY) for side in (left, right))
        if mine is None or others is None or mine == others or (expands and len(others) == 1 != len(mine)):
            return False
        return bool(_common(mine, others))
    return False


def _dense(steps: Part) -> Part:
    """Leave out what is done to rows once they are taken: in another order of their axes they are the same memory."""
    first = steps[:1]
    kept = first and first[0][0] in {"row", "rows"} and all(move in {"axes", "all"} for move, _, _ in steps[1:])
    return first if kept else steps


def _differ(one: Step, other: Step) -> bool:
    """Check whether two steps certainly permute the axes differently: same op, other axes, same counting direction."""
    axes = [[value.value for value in step[2] if isinstance(value, Const)] for step in (one, other)]
    numbers = [number for side in axes for number in side if isinstance(number, int)]
    from_one_end = all(number >= 0 for number in numbers) or all(number < 0 for number in numbers)
    return one[1] == other[1] and from_one_end and sorted(map(str, axes[0])) != sorted(map(str, axes[1]))


def _rows(step: Step) -> range | None:
    """Return the rows that an index selects of a long tensor; None if it leaves gaps or is unknown."""
    index = step[2][0] if step[2] else None
    if isinstance(index, Const) and type(index.value) is int:
        first = index.value % _MANY
        return range(first, first + 1)
    if isinstance(index, SliceValue) and _number(index.step, 1) == 1:
        bounds = slice(_number(index.lower, None), _number(index.upper, None))
        return range(_MANY)[bounds]
    return None


def _common(one: range, other: range) -> range:
    return range(max(one.start, other.start), min(one.stop, other.stop))


def _number(value: Value, default: int | None) -> int | None:
    return value.value if isinstance(value, Const) and type(value.value) is int else default


def _is_first(call: Call) -> bool:
    """Check whether the `dim` of a call is the first axis."""
    axis = call.binding.value("dim")
    return axis is None or axis == Const(0)
