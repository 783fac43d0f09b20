"""
Shapes of the tensors of a call: what the rules of facts ask for, and what the program learns.

    B, N, C = x.shape     # x has three axes; their sizes are these symbols
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.domain import origins, products, shape, shape_rules, traits
from inplace_lint.domain.heap import ListObject, Tensor
from inplace_lint.domain.shape import Axes, Axis, Part, Size
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, NOT_TENSORS, Const, Ref, SliceValue, Sym, SymId, Three, Tuple, Value
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.transfer.index import is_row, takes_one
from inplace_lint.knowledge.guard import holds
from inplace_lint.knowledge.op import Op
from inplace_lint.knowledge.shape_fact import ShapeFact
from inplace_lint.knowledge.words import ShapeRule, ValueKind

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.binding import Binding

# Stands for the axes of a contiguous tensor whose axes are unknown. IMPRECISE: it is taken to have more than one.
_ANY = shape.dense(tuple([Part(None, (axis,)) for axis in range(8)]))


class CallOperands:
    """The arguments of a call; with `strided`, the axes of its tensors have strides, if only those of any tensor."""

    def __init__(self, binding: Binding, *, strided: bool = False) -> None:
        self._binding, self._strided = binding, strided
        self._state = binding.state

    def axes(self, name: str) -> Axes | None:
        """
        Return the axes of a tensor; none for a number, None where they are unknown.

        An unknown value that an operator was taken to make a number of is a tensor, where nothing else can be given.
        """
        value = self._binding.value(name)
        return None if type(value) is Sym and self._state.ref(value) is None else self._axes(value)

    def _axes(self, value: Value | None) -> Axes | None:
        if value is None or type(value) is Const or (type(value) is Sym and value.kind in NOT_TENSORS):
            return ()
        ref = self._state.ref(value)
        tensor = None if ref is None else self._state.tensor(ref)
        if ref is None or tensor is None:
            return None
        if tensor.sizes is None:
            return _ANY if self._strided and tensor.contiguous else None
        return axes_of(self._state, ref, tensor.sizes, tensor, strided=self._strided)

    def several(self, name: str) -> list[Axes | None]:
        """Return the axes of each tensor in an argument; of a single one where these are unknown."""
        found = members(self._binding, name)
        return [self._axes(self._binding.value(name))] if found is None else [self._axes(item) for item in found]

    def numbers(self, name: str, *, all_known: bool = True) -> tuple[Size, ...] | None:
        """
        Return the numbers in an argument; none where it is not given, None where it is unknown.

        Without `all_known`, those of an unknown iterable are taken to be as many as a loop over it has turns.
        """
        value = self._binding.value(name)
        if value is None and self._is_required(name):  # it is in `*args`
            return None
        if value is None or value == NONE:
            return ()
        items = _items(self._state, value)
        if items is not None and len(items) == 1 and not _is_size(items[0]):
            items = _items(self._state, items[0])
        elif items is None and _is_size(value):
            items = (value,)
        if items is None or (len(items) == 1 and not _is_size(items[0])):
            return None
        if all_known and any(map(self._is_of_turn, items)):
            return None
        return tuple(_size(item) for item in items)

    def _is_of_turn(self, value: object) -> bool:
        """Check whether a number was computed from one that stands for each of an unknown iterable."""
        match self._state.symbols.key(value) if isinstance(value, Sym) else None:
            case (origins.TURN, *_):
                return True
            case (origins.BINARY | origins.UNARY, _, *operands):
                return any(map(self._is_of_turn, operands))
            case _:
                return False

    def _is_required(self, name: str) -> bool:
        arguments = (*self._binding.op.args, *(self._binding.op.init or ()))
        return any(one.name == name and one.kind == "plain" and not one.optional for one in arguments)

    def nested(self, name: str) -> tuple[Size, ...] | None:
        """Return the lengths of nested lists of numbers, or what `*args` say if not one list; None where unknown."""
        value = self._binding.value(name)
        if not any(argument.name == name and argument.kind == "args" for argument in self._binding.op.args):
            return None if value is None else _lengths(self._state, value)
        items = () if value is None else _items(self._state, value)
        if items is not None and len(items) == 1 and isinstance(items[0], Ref):  # a tuple may be a shape
            return _lengths(self._state, items[0])
        return None if items is None or not all(map(_is_size, items)) else tuple(map(_size, items)) or (0,)

    def flag(self, name: str) -> Three:
        """Return the truth of an argument."""
        value = self._binding.value(name)
        return False if value is None else path_condition.truth(self._state, value)

    def value(self, name: str) -> Value | None:
        """Return an argument."""
        return self._binding.value(name)

    def is_row(self, part: Value | None) -> bool:
        """Check whether a part of an index is one whole number, so that its axis goes away."""
        return part is not None and is_row(self._state, part)

    def takes_one(self, part: SliceValue) -> bool:
        """Check whether a slice takes one element of an axis, if that is long enough."""
        return takes_one(self._state, part)


def _lengths(state: State, value: Value) -> tuple[int, ...] | None:
    if isinstance(value, Const):
        return () if isinstance(value.value, int | float) else None
    if isinstance(value, Sym):
        return () if value.kind == "number" else None
    items = _items(state, value)
    if items is None:
        return None
    inner = _lengths(state, items[0]) if items else ()
    return None if inner is None else (len(items), *inner)


def members(binding: Binding, name: str) -> Sequence[Value] | None:
    """Return the items of an argument, also where `*args` are passed as one list; None where there may be more."""
    found = _items(binding.state, binding.value(name))
    spread = any(argument.name == name and argument.kind == "args" for argument in binding.op.args)
    inner = _items(binding.state, found[0]) if spread and found is not None and len(found) == 1 else None
    return found if inner is None else inner


def _items(state: State, value: Value | None) -> Sequence[Value] | None:
    """Return the items of a tuple or list, if they are certainly all."""
    if isinstance(value, Tuple):
        return value.items if value.exact else None
    inner = state.object(value) if isinstance(value, Ref) else None
    return inner.items if isinstance(inner, ListObject) and inner.exact else None


def listed(state: State, value: Value) -> tuple[Size, ...] | None:
    """Return the sizes that the items of a list or tuple are, known or not; None where there may be more."""
    items = _items(state, value)
    return None if items is None else tuple(map(_size, items))


def _size(value: Value) -> Size:
    """Return the number that one of several items is, known or not."""
    if isinstance(value, Const):
        return value.value if type(value.value) is int else None
    return value if isinstance(value, Sym) and value.kind == "number" else None


def _is_size(value: Value) -> bool:
    return _size(value) is not None


def axes_of(state: State, ref: Ref, known: tuple[Size, ...], tensor: Tensor, *, strided: bool) -> Axes:
    """Return the axes of a tensor; with strides, unknown sizes get the symbols that the program would read."""
    if not strided:
        return tuple([Axis(size) for size in known])
    sizes = tuple(size_symbol(state, ref, i) if size is None else size for i, size in enumerate(known))
    if tensor.strides is not None:
        return tuple(Axis(size, stride) for size, stride in zip(sizes, tensor.strides, strict=True))
    return shape.dense(sizes) if tensor.contiguous else tuple(Axis(size) for size in sizes)


def of_fact(binding: Binding, fact: ShapeFact | None) -> tuple[Size, ...] | None:
    """Return the sizes of a new tensor; None where even their number is unknown."""
    if fact is None or (fact.rule is ShapeRule.AXES and fact.args == (0,) and _is_told_more(binding, fact)):
        return None
    axes = shape_rules.axes_of(fact, CallOperands(binding))
    return None if axes is None else tuple([axis.size for axis in axes])


def parts(binding: Binding, fact: ShapeFact | None) -> int | None:
    """Return how many parts of a tensor a call returns; None where that is not known."""
    return None if fact is None else shape_rules.parts(fact, CallOperands(binding))


def refused(binding: Binding) -> bool:
    """Check whether the arguments of a call certainly do not fit each other: `torch.rand(3) + torch.rand(4)`."""
    fact = result_of(binding)
    check = None if fact is None else _REFUSED.get(fact.rule)
    return fact is not None and check is not None and check(CallOperands(binding), [str(name) for name in fact.args])


def result_of(binding: Binding) -> ShapeFact | None:
    """Return the shape of what a call returns, where it is known which of the alternatives that is."""
    returns = binding.op.returns
    if len(returns) <= 1:
        return returns[0].shape if returns else None
    sides = ((holds(one.condition, binding), one.shape) for one in returns)
    side, found = next((pair for pair in sides if pair[0] is not False), (None, None))
    return found if side else None


def is_indexed(op: Op) -> bool:
    """Check whether a call takes a part of a tensor by an index."""
    fact = op.returns[-1].shape if op.returns else None
    return fact is not None and fact.rule is ShapeRule.INDEX


def _do_not_broadcast(operands: CallOperands, names: Sequence[str]) -> bool:
    every = [axes for name in names for axes in operands.several(name) if axes is not None]
    return any(_differ(one, other) for i, one in enumerate(every) for other in every[:i])


def _differ(one: Axes, other: Axes) -> bool:
    """Check whether two tensors do not broadcast: two of their sizes differ, and neither is 1."""
    pairs = [(left.size, right.size) for left, right in zip(reversed(one), reversed(other), strict=False)]
    return any(isinstance(a, int) and isinstance(b, int) and a != b and 1 not in {a, b} for a, b in pairs)


def _has_other_number(operands: CallOperands, names: Sequence[str]) -> bool:
    """Check whether sizes are those of another number of elements than a tensor has."""
    old, sizes = operands.axes(names[0]), operands.numbers(names[1])
    whole = None if old is None else _count(tuple([axis.size for axis in old]))
    rest = None if not sizes else _count(tuple([size for size in sizes if size != -1]))
    if whole is None or rest is None or not sizes or not rest:
        return False
    return whole % rest != 0 if -1 in sizes else whole != rest


def _do_not_multiply(operands: CallOperands, names: Sequence[str]) -> bool:
    """Check whether two operands make no product of matrices: the rows of one are no columns of the other."""
    first, other = (operands.axes(name) for name in names)
    if not first or not other:
        return False
    row, column = first[-1].size, other[max(len(other) - products.MATRIX, 0)].size
    if row == 0 and not isinstance(column, int):  # IMPRECISE: what is empty is a way out, and the other is not empty
        return True
    return (isinstance(row, int) and isinstance(column, int) and row != column) or _differ(first[:-2], other[:-2])


def _is_out_of_range(operands: CallOperands, names: Sequence[str]) -> bool:
    """Check whether an index names an element, or an axis, that a tensor does not have."""
    axes, index = operands.axes(names[0]), operands.value(names[1])
    parts = index.items if isinstance(index, Tuple) and index.exact else (index,)
    if axes is None or not all(isinstance(part, SliceValue) or operands.is_row(part) for part in parts):
        return False
    pairs = zip(parts, axes, strict=False)
    return len(parts) > len(axes) or any(_is_outside(part, axis.size) for part, axis in pairs)


def _is_outside(part: Value | None, size: Size) -> bool:
    number = part.value if isinstance(part, Const) else None
    return type(number) is int and isinstance(size, int) and not -size <= number < size


_REFUSED: dict[ShapeRule, Callable[[CallOperands, Sequence[str]], bool]] = {
    ShapeRule.BROADCAST: _do_not_broadcast,
    ShapeRule.RESHAPE: _has_other_number,
    ShapeRule.MATMUL: _do_not_multiply,
    ShapeRule.INDEX: _is_out_of_range,
}


def _is_told_more(binding: Binding, fact: ShapeFact) -> bool:
    """
    Check whether a call that by itself gives one number is told more by others than tensors: `reduction="none"`.

    A guard that the fact has says which of it matters: `label_smoothing=0.1` does not.
    """
    if any(one.shape is fact and one.condition is not None for one in binding.op.returns):
        return False
    if binding.instance is None:
        return any(not binding.tensors(name) for name in binding.given)
    chosen = binding.instance.attrs
    defaults = [(option.name, Const(option.default)) for option in binding.op.init or ()]
    return any(chosen.get(name, default) != default for name, default in defaults)


def makes_unit_axis(binding: Binding, fact: ShapeFact | None) -> bool:
    """Return whether a result certainly has an axis of size 1, however many axes the arguments have."""
    if fact is None or fact.rule is ShapeRule.INSERT:
        return fact is not None
    last = binding.value(str(fact.args[-1])) if fact.args else None
    if fact.rule is ShapeRule.REDUCE:
        return last == Const(True)
    items = last.items if isinstance(last, Tuple) else (last,)
    ones = (item == NONE or (isinstance(item, SliceValue) and takes_one(binding.state, item)) for item in items)
    return fact.rule is ShapeRule.INDEX and any(ones)


def symbol(state: State, tensor: Value) -> Sym:
    """Return the shape of a tensor as an unknown value."""
    return state.symbols.sym((origins.SHAPE, (tensor,)), "sequence")


def size_symbol(state: State, tensor: Value, axis: int) -> Sym:
    """Return the size of an axis as an unknown value."""
    return state.symbols.sym((origins.ITEM, symbol(state, tensor), Const(axis)), "number")


def shape_value(state: State, tensor: Value) -> Value:
    """Return what `x.shape` is: the known sizes, with symbols for the others."""
    record = state.tensor(tensor)
    if record is None or record.sizes is None:
        return symbol(state, tensor)
    return Tuple(tuple(size_value(state, tensor, size, axis) for axis, size in enumerate(record.sizes)))


def size_value(state: State, tensor: Value, size: Size, axis: int) -> Value:
    """Return the size of an axis as the program reads it."""
    if size is None or isinstance(size, Part):
        return size_symbol(state, tensor, axis)
    return Const(size) if isinstance(size, int) else size


def number(binding: Binding, kind: str) -> Value | None:
    """Return how many axes or elements the first argument has, or the size of an axis; None where that is unknown."""
    first, *rest = (argument.name for argument in binding.op.args)
    tensor, value = binding.tensor(first), binding.values.get(first)
    if kind == ValueKind.COUNT:
        count = _count(None if tensor is None else tensor.sizes)
        return None if count is None else Const(count)
    if value is None or kind == ValueKind.RANK:
        return None if tensor is None or tensor.rank is None else Const(tensor.rank)
    if kind == ValueKind.INT:
        return None
    axis = Const(0) if kind == ValueKind.LENGTH else binding.value(rest[0])
    if not isinstance(axis, Const) or type(axis.value) is not int:
        return None
    if tensor is None or tensor.sizes is None:
        return size_symbol(binding.state, value, axis.value)
    if not -len(tensor.sizes) <= axis.value < len(tensor.sizes):
        return None
    place = axis.value % len(tensor.sizes)
    return size_value(binding.state, value, tensor.sizes[place], place)


def _count(sizes: tuple[Size, ...] | None) -> int | None:
    """Return the number of elements of a tensor; None unless the size of each axis is known, or one axis is empty."""
    known = [size for size in sizes or () if isinstance(size, int)]
    return math.prod(known) if sizes is not None and (len(known) == len(sizes) or 0 in known) else None


def learn(state: State, value: Value, count: int) -> None:
    """Record that a shape has so many items: that of a tensor whose axes were unknown."""
    if not isinstance(value, Sym):
        return
    match state.symbols.key(value):
        case (origins.SHAPE, (Ref() | Sym() as of,)):
            ref, tensor = state.ref(of), state.tensor(of)
            if ref is not None and tensor is not None and tensor.sizes is None:
                state.put(ref, replace(tensor, sizes=_items_of(state, value, count)))
        case (origins.SHAPE, int(of)):
            state.set_trait(traits.SIZES, SymId(of), _items_of(state, value, count))
        case _:
            pass


def _items_of(state: State, value: Sym, count: int) -> tuple[Size, ...]:
    return tuple(state.symbols.sym((origins.ITEM, value, Const(i)), "number") for i in range(count))


def centred(call: Binding, kernel: str, dilation: str) -> Three:
    """
    Check whether padding to the same size is the same on both sides of each axis; None if unknown.

    `kernel` names the argument with its size, or a weight of which the first two axes are those of the channels.
    """
    weight, steps = call.tensor(kernel), _numbers(call.value(dilation))
    sizes = _numbers(call.value(kernel)) if weight is None else _known((weight.sizes or (None,))[2:])
    if steps and all(step % 2 == 0 for step in steps):
        return True
    if not sizes or not steps:
        return None
    axes = max(len(sizes), len(steps))  # one number is that of every axis
    pairs = zip(*(one * axes if len(one) == 1 else one for one in (sizes, steps)), strict=False)
    return all(step * (size - 1) % 2 == 0 for size, step in pairs)


def _numbers(value: Value | None) -> tuple[int, ...]:
    """Return the whole numbers that a value is; none where one of them is unknown."""
    items = value.items if isinstance(value, Tuple) and value.exact else (value,)
    return _known(tuple(item.value if isinstance(item, Const) else None for item in items))


def _known(items: tuple[object, ...]) -> tuple[int, ...]:
    found = tuple(item for item in items if type(item) is int)
    return found if len(found) == len(items) else ()
