"""
Parts of storages: which part a view covers, as far as constants tell, and whether two views overlap partially.

    h[1:] += h[:-1]                       # rows 1 to n and 0 to n - 1
    m.unsqueeze(1).sub_(m.unsqueeze(2))   # all of it, the axes in another order
    w -= w[0]                             # all of it and its first row

PyTorch refuses these if both views are dense in memory. Two equal views are allowed, and views with gaps are not
checked: some of their elements are written before they are read. Source: ATen/MemoryOverlap.cpp, `get_overlap_status`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Spelling
from inplace_lint.domain import origins, rearrangement, traits
from inplace_lint.domain.values import NONE, Const, Ref, SliceValue, Sym, Three, Tuple, Value
from inplace_lint.interp.transfer import layouts
from inplace_lint.interp.transfer.index import (
    ADDED,
    DOTS,
    WHOLE,
    filled,
    is_constant,
    is_row,
    is_whole,
    items_of,
    leaves_gaps,
)
from inplace_lint.knowledge.words import Check, ShapeRule

if TYPE_CHECKING:
    from inplace_lint.domain.heap import Part, Step, Tensor
    from inplace_lint.domain.shape import Size
    from inplace_lint.domain.state import State, Symbols
    from inplace_lint.interp.transfer.op_call import Call
    from inplace_lint.knowledge.op import ReturnFact, WriteFact

Sizes = tuple["Size", ...]
_MANY = 1 << 20  # rows of a tensor whose length is unknown
NEAR = "the two slices overlap"
_REPEATS = "repeats"  # the step of an expansion; its arguments are the number of axes, and those that repeat


def step(call: Call, moves: str, source: Tensor) -> Part | None:
    """Return the part of the storage that the view which a call creates covers; None if unknown."""
    if not moves or source.part is None:
        return None
    if moves == "row" or (moves == "rows" and call.binding.tensors(call.binding.op.args[1].name)):
        return (*source.part, ("row", "", ())) if _takes_row(call, moves) else None  # which of them is unknown
    if moves == "all":
        added = [axis for value in call.binding.values.values() for axis in rearrangement.added(value)]
        return _with_axes(source.part, added) if added else (*source.part, (moves, "", ()))
    names = [argument.name for argument in call.binding.op.args[1:] if not call.binding.tensors(argument.name)]
    arguments = tuple(call.binding.values[name] for name in names if name in call.binding.values)
    inserts = moves == "axes" and _inserts_axis(call)
    if inserts and not arguments:  # the axis is a tensor
        return None
    if not all(is_constant(value) for value in arguments):
        if moves != "rows" or len(arguments) != 1 or not _is_numbers(call.state, arguments[0]):
            return None
        return (*source.part, ("row" if is_row(call.state, arguments[0]) else moves, "", arguments))
    if moves == "rows" and all(is_whole(value) for value in arguments):
        return source.part
    if moves == "rows" and (news := [axis for value in arguments for axis in _added_axes(value)]):
        return _with_axes(source.part, news)
    if inserts and isinstance(arguments[0], Const) and type(arguments[0].value) is int:
        return _with_axes(source.part, [arguments[0].value])
    return (*source.part, (moves, "" if moves == "rows" else call.binding.op.name, arguments))


def _with_axes(part: Part, added: list[int]) -> Part:
    """Return the part of a view with more axes of size 1; in front they make no difference to an assignment."""
    return part if added == list(range(len(added))) else (*part, ("axes", ADDED, tuple(map(Const, added))))


def _inserts_axis(call: Call) -> bool:
    """Check whether a call only adds an axis of size 1, at the position that is its one argument."""
    rules = [fact.shape.rule for fact in call.binding.op.returns if fact.shape is not None]
    return bool(rules) and all(rule is ShapeRule.INSERT for rule in rules)


def _added_axes(index: Value) -> list[int]:
    """Return the axes that an index adds, those after `...` counted from the end; none if it takes a part, too."""
    items = index.items if isinstance(index, Tuple) and index.exact else (index,)
    if not all(item == NONE or is_whole(item) for item in items):
        return []
    dots = items.index(DOTS) if DOTS in items else len(items)
    return [at if at < dots else at - len(items) for at, item in enumerate(items) if item == NONE]


def _is_numbers(state: State, index: Value) -> bool:
    """Check whether an index consists of numbers and slices between them, so that it takes the same part each time."""
    if isinstance(index, Tuple):
        return index.exact and all(_is_numbers(state, item) for item in index.items)
    if isinstance(index, SliceValue):
        bounds = (index.lower, index.upper, index.step)
        return all(bound == NONE or is_row(state, bound) for bound in bounds)
    return index in {NONE, DOTS} or is_row(state, index)


def repeats(call: Call, fact: ReturnFact, source: Tensor, sizes: Sizes | None) -> Part | None:
    """Return the part of the storage that the expansion of a tensor to these sizes covers."""
    if source.part is None or sizes is None:
        return None
    found = layouts.added(call.binding, fact)
    if found is None and source.sizes is not None:
        new = len(sizes) - len(source.sizes)
        pairs = enumerate(sizes)
        found = [at for at, size in pairs if size != 1 and (at < new or source.sizes[at - new] == 1)]
    return (*source.part, (_REPEATS, "", (Const(len(sizes)), *map(Const, found)))) if found else None


def expands(call: Call, fact: ReturnFact, ref: Ref, source: Tensor, sizes: Sizes | None) -> Three:
    """Return whether an expansion to these sizes repeats elements; None where it may be to the sizes that there are."""
    added = layouts.added(call.binding, fact)
    if added is not None:
        return bool(added)
    if source.sizes is None or sizes is None or len(sizes) < len(source.sizes):  # fewer axes are refused
        return call.state.trait(traits.UNIT_AXIS, ref.id)
    new = len(sizes) - len(source.sizes)
    pairs = list(zip(source.sizes, sizes[new:], strict=True))
    if any(size != 1 for size in sizes[:new]) or any(size == 1 != target for size, target in pairs):
        return True
    return False if all(size is not None and size == target for size, target in pairs) else None


def keeps_repeats(call: Call, moves: str) -> bool:
    """Check whether a view of an expanded tensor still has several elements at one memory location."""
    if moves != "rows":
        return moves in {"all", "axes"}
    index = call.binding.value(call.binding.op.args[1].name)
    source = call.binding.tensor(call.binding.op.args[0].name)
    step = source.part[-1] if source is not None and source.part else None
    if step is not None and step[0] == _REPEATS and index is not None:
        return not _repeated(step) <= _single(call.state, step, index)
    first = index.items[0] if isinstance(index, Tuple) and index.exact and index.items else index
    # IMPRECISE: the first axis is taken for the repeated one, so that `h[:, 0]` has repeats where the second one is.
    return first == NONE or (first is not None and is_whole(first))


def spreads(state: State, part: Part | None, index: Value | None) -> bool:
    """
    Check whether a write to one of several elements that are one place in memory changes all of them.

    `part` is that of the written tensor, or of the one that is indexed by `index`.
    """
    for at, step in enumerate(part or ()):
        if step[0] == _REPEATS:
            move, _, arguments = (part or ())[at + 1] if at + 1 < len(part or ()) else ("rows", "", (index,))
            one = arguments[0] if arguments else Const(0)
            return move in {"row", "rows"} and one is not None and _repeated(step) <= _single(state, step, one)
    return False


def in_windows(part: Part | None) -> bool:
    """Check whether a tensor is made of windows that share elements: they are longer than they are apart."""
    match (part or ((),))[-1]:
        case ("windows", _, (_, Const(int(size)), Const(int(apart)))):
            return size > apart
        case _:
            return False


def _repeated(step: Step) -> set[int]:
    return {axis.value for axis in step[2][1:] if isinstance(axis, Const) and isinstance(axis.value, int)}


def _single(state: State, step: Step, index: Value) -> set[int]:
    """Return the axes of an expanded tensor of which an index takes a single element."""
    rank = step[2][0].value if isinstance(step[2][0], Const) else None
    items = [item for item in (index.items if isinstance(index, Tuple) else (index,)) if item != NONE]
    items = filled(items, rank) if isinstance(rank, int) else items
    return {at for at, item in enumerate(items) if is_row(state, item) or len(_taken(item, None) or "..") == 1}


def alike(one: Part | None, other: Part | None) -> bool:
    """Check whether two views cover the same elements: of two rows that an iteration gave, each is another one."""
    return one == other is not None and all(move != "row" or arguments for move, _, arguments in one or ())


def clash(written: Part | None, other: Part | None, symbols: Symbols, *, expands: bool) -> Three:
    """
    Check whether two dense views of one storage overlap without being equal; None if they may be too far apart.

    `expands`: an operand with fewer rows is expanded first, and then is not dense.
    """
    if written is None or other is None or written == other:
        return False
    shared = 0
    while shared < min(len(written), len(other)) and written[shared] == other[shared]:
        shared += 1
    if any(_rows(step) is None for step in written[:shared] if step[0] in {"row", "rows"}):
        return False
    left, right = _dense(_reshaped(written[shared:])), _dense(_reshaped(other[shared:]))
    moves = {move for move, _, _ in left + right}
    if max(len(left), len(right)) > 1:
        return False
    if moves == {"axes"}:
        return _axes_meet(left, right, expands=expands)
    if moves == {"row"}:
        one_is_all = not left or not right  # of two rows, nobody knows
        return one_is_all and not expands and all(move != "axes" for move, _, _ in written[:shared])
    if moves == {"rows"} and all(move != "axes" for move, _, _ in written[:shared]):  # transposed rows have gaps
        if _shifted_axis(left, right, symbols) == 0 or _shifted_axis(right, left, symbols) == 0:
            return None
        mine, others = (_rows(side[0]) if side else range(_MANY) for side in (left, right))
        if mine is None or others is None or mine == others or (expands and len(others) == 1 != len(mine)):
            return False
        return _common(mine, others)
    return False


def _axes_meet(left: Part, right: Part, *, expands: bool) -> bool:
    """Check whether axes in another order make other elements meet; of axes that are left out, they have size 1."""
    if expands and not left and right[0][1] == ADDED:
        return False
    return not left or not right or _differ(left[0], right[0])


def with_operand(call: Call, fact: WriteFact, tensor: Tensor) -> frozenset[str] | None:
    """Return under which assumptions an operand is another view of what is written, and overlaps it in part."""
    part = step(call, fact.moves, tensor) if fact.moves else tensor.part
    for name in call.binding.given - {fact.to}:
        for _, other in call.binding.tensors(name):
            if other.storage == tensor.storage and not (not fact.moves and _may_take_one(call, name)):
                found = clash(part, other.part, call.state.symbols, expands=bool(fact.moves))
                if found is not False or _must_be_apart(call, fact, tensor, other):
                    if tensor is other:
                        return frozenset()  # whatever else it may be a view of
                    near = {NEAR} if found is None else set()
                    return tensor.doubt | other.doubt | near
    return None


def _may_take_one(call: Call, name: str) -> bool:
    """Check whether an item is assigned from this operand and the index may be a number: a tensor without axes is."""
    index = call.binding.op.args[1].name
    is_item = call.spelled is Spelling.ITEM and name != index
    return is_item and any(one.rank is None and one.dtype != "bool" for _, one in call.binding.tensors(index))


def _must_be_apart(call: Call, fact: WriteFact, tensor: Tensor, other: Tensor) -> bool:
    """Check whether an operand may not share memory with the written tensor at all, and shares all of it."""
    whole = tensor is other or (tensor.part is not None and tensor.part == other.part)
    if Check.APART not in fact.checks or not whole or not tensor.contiguous:
        return False
    # What a mask selects is set to a number by another kernel, which asks nothing.
    operands = call.binding.given - {fact.to}
    return tensor.dtype == "int" or all(call.binding.tensor(name) is not None for name in operands)


def reads_late(
    written: Part | None, other: Part | None, sizes: Sizes | None, symbols: Symbols, *, again: bool, dense: bool = False
) -> Three:
    """
    Check whether a write, element by element in the order of the memory, reads some elements after it has set them.

    Asked of two views of one storage that the framework does not refuse. `sizes` are those of the whole storage. None
    if they may be too far apart to overlap.
    `again`: where an element is set twice from one operand, the result is another one. `dense`: the framework copies
    what is not dense in memory before it computes.
    """
    if written is None or other is None or written == other:
        return False
    shared = 0
    while shared < min(len(written), len(other)) and written[shared] == other[shared]:
        shared += 1
    left, right = _dense(written[shared:]), _dense(other[shared:])
    if max(len(left), len(right)) > 1:
        return False
    moves = {move for move, _, _ in left + right}
    if dense and (moves != {"rows"} or any(leaves_gaps(step) for step in (*written, *other))):
        return False
    if moves == {"axes"}:
        gaps = any(leaves_gaps(step) for step in written[:shared])
        return gaps and (not left or not right or _differ(left[0], right[0]))
    if moves != {"rows"} or any(step[0] == "axes" and not _moves_first(step, sizes) for step in written[:shared]):
        return False
    if (_shifted_axis(left, right, symbols) or 0) > 0:
        return None
    pairs = _aligned(left, right, sizes if shared == 0 else None)
    if any(mine is None or theirs is None or not _common(mine, theirs) for mine, theirs in pairs):
        return False
    known = [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]
    single = [(mine, theirs) for mine, theirs in known if len(theirs) == 1 < len(mine)]
    moved = [mine.start - theirs.start for mine, theirs in known if len(mine) == len(theirs) and mine != theirs]
    if single or any(len(mine) != len(theirs) for mine, theirs in known):
        return again and len(single) + len(moved) == len(single) and any(mine[-1] not in them for mine, them in single)
    return bool(moved) and moved[0] > 0


def _aligned(left: Part, right: Part, sizes: Sizes | None) -> list[tuple[range | None, range | None]]:
    """Return for each axis what two indices take of it; None where that is unknown."""
    sides = [items_of(side[0]) if side else None for side in (left, right)]
    ends = {side[0] == DOTS for side in sides if side}
    if len(ends) > 1 or any(DOTS in side[1:] for side in sides if side):
        return [(None, None)]
    rows = [[item for item in side or () if item != DOTS] for side in sides]
    from_end = ends == {True}
    longest = max(len(side) for side in rows)
    found = []
    for at in range(longest):
        axis = at - longest if from_end else at
        size = sizes[axis] if sizes is not None and -len(sizes) <= axis < len(sizes) else None
        picked = [side[axis] if -len(side) <= axis < len(side) else WHOLE for side in rows]
        mine, theirs = (_taken(item, size if isinstance(size, int) else None) for item in picked)
        far = mine is not None and theirs is not None and 1 < abs(mine.start - theirs.start) < _MANY - 1
        unsure = far and size is None and len(mine or ()) == len(theirs or ())
        found.append((None, None) if unsure else (mine, theirs))
    return found


def _shifted_axis(left: Part, right: Part, symbols: Symbols) -> int | None:
    """Return the axis along which one index takes what another one takes, an unknown number of elements further on."""
    mine, theirs = ([] if not side else items_of(side[0]) for side in (left, right))
    if DOTS in mine or DOTS in theirs or len(mine) != len(theirs):
        return None
    different = [at for at, pair in enumerate(zip(mine, theirs, strict=True)) if pair[0] != pair[1]]
    if len(different) != 1 or not _follows(mine[different[0]], theirs[different[0]], symbols):
        return None
    return different[0]


def _follows(one: Value, other: Value, symbols: Symbols) -> bool:
    """Check whether two slices are `n:` and `:-n` of one axis."""
    if not isinstance(one, SliceValue) or not isinstance(other, SliceValue) or not isinstance(one.lower, Sym):
        return False
    ends = (one.upper, one.step, other.step) == (NONE, NONE, NONE) and other.lower in {NONE, Const(0)}
    negative = symbols.sym((origins.UNARY, "-", one.lower))
    return ends and isinstance(other.upper, Sym) and other.upper.id == negative.id


def _reshaped(steps: Part) -> Part:
    """Leave out that all of the memory has got another shape: it is the same memory."""
    return () if all(move == "all" for move, _, _ in steps) else steps


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


def _moves_first(step: Step, sizes: Sizes | None) -> bool:
    """Check whether a step that permutes axes moves the first one: rows have gaps then, and are dense otherwise."""
    numbers = [value.value for value in step[2] if isinstance(value, Const) and type(value.value) is int]
    return not numbers or any(number == 0 or (sizes is not None and number == -len(sizes)) for number in numbers)


def _rows(step: Step) -> range | None:
    """Return the rows that an index selects of a long tensor; None if it leaves gaps or is unknown."""
    found = _taken(step[2][0], None) if step[2] else None
    return found if found is not None and found.step == 1 else None


def _taken(index: Value, size: int | None) -> range | None:
    """Return which elements of an axis, a long one if its size is unknown, an index takes; None if that is unknown."""
    every = range(_MANY if size is None else size)
    if isinstance(index, Const) and type(index.value) is int:
        first = index.value % max(len(every), 1)
        return range(first, first + 1)
    bounds = (index.lower, index.upper, index.step) if isinstance(index, SliceValue) else ()
    if not bounds or not all(isinstance(bound, Const) for bound in bounds):
        return None
    return every[slice(*(_number(bound, None) for bound in bounds))]


def _common(one: range, other: range) -> bool:
    """Check whether two selections certainly have an element in common."""
    if 1 in {len(one), len(other)}:
        return any(element in one for element in other) if len(other) == 1 else one[0] in other
    in_step = one.step == other.step > 0 and (one.start - other.start) % one.step == 0
    return in_step and max(one.start, other.start) < min(one.stop, other.stop)


def _number(value: Value, default: int | None) -> int | None:
    return value.value if isinstance(value, Const) and type(value.value) is int else default


def _takes_row(call: Call, moves: str) -> bool:
    """Check whether a call takes a row of the first axis: by its `dim`, or by a tensor that is read as a number."""
    if moves == "row":
        axis = call.binding.value("dim")
        return axis is None or axis == Const(0)
    index = call.binding.value(call.binding.op.args[1].name)
    return index is not None and is_row(call.state, index)
