"""
How tensors lie in memory: that of a view follows from the call that makes it, and decides what products keep.

    cls = x[:, 0:1, :]     # one of several rows of each batch
    self.head(cls)         # keeps `cls` itself: batches and rows merge into one axis without a copy

What the tape knows of its memory answers what the program asks: `y._version == 0`, `y._base is None`, `y.is_sparse`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from msgspec.structs import replace

from inplace_lint.domain import origins, products, shape, shape_rules, traits
from inplace_lint.domain.heap import DictObject, ListObject, Tensor, View
from inplace_lint.domain.shape import Size, Term
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Ref, SliceValue, Sym, Three, Tuple, Value
from inplace_lint.interp.transfer.index import axes_named, is_dense, keeps_rows
from inplace_lint.interp.transfer.shapes import CallOperands, makes_unit_axis, members
from inplace_lint.interp.transfer.tensor_types import dtypes
from inplace_lint.knowledge.guard import Atom
from inplace_lint.knowledge.op import ReturnFact
from inplace_lint.knowledge.shape_fact import ShapeFact
from inplace_lint.knowledge.words import Moves, Predicate, ShapeRule, ValueKind

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.binding import Binding

_APART = frozenset({View.DETACH, View.DATA, View.UNTRACKED})  # views of memory, but of no tensor
_BATCHED = 3  # axes of a batch of sequences of features


class Layout(TypedDict):
    """What is known of the memory that a view covers: fields of a tensor."""

    sizes: tuple[Size, ...] | None
    strides: tuple[Term | None, ...] | None
    contiguous: Three


def _told(binding: Binding, fact: ReturnFact, ref: Ref, source: Tensor) -> Tensor:
    """Return a tensor of unknown axes with as many as the call that makes a view of it names."""
    if source.sizes is None and fact.shape is not None and fact.shape.rule in {ShapeRule.INDEX, ShapeRule.PERMUTE}:
        name = str(fact.shape.args[1])
        axes = CallOperands(binding).numbers(name) if fact.shape.rule is ShapeRule.PERMUTE else None
        count = axes_named(binding.state, binding.value(name)) if axes is None else len(axes)
        if count:
            source = replace(source, sizes=(None,) * count)
            binding.state.put(ref, source)
    return source


def of_view(binding: Binding, fact: ReturnFact, source: Tensor) -> Layout:
    """
    Return the layout of the view that a call creates.

    Axes that are merged or split leave a tensor dense if it was, and only then.
    """
    kept = fact.moves is Moves.ALL and source.contiguous is not None
    dense = source.contiguous if kept else fact.contiguous
    if fact.shape is None:
        return Layout(sizes=None, strides=None, contiguous=dense)
    axes = shape_rules.axes_of(fact.shape, CallOperands(binding, strided=True))
    if source.sizes is None and fact.shape.rule is not ShapeRule.RESHAPE:
        if source.contiguous and axes is not None:
            return Layout(sizes=None, strides=None, contiguous=shape.is_contiguous(axes))
        gaps = source.contiguous is False and _keeps_gaps(binding, fact, source)
        return Layout(sizes=None, strides=None, contiguous=False if gaps else dense)
    if axes is None:
        return Layout(sizes=None, strides=None, contiguous=dense)
    sizes = tuple([axis.size for axis in axes])
    found = True if dense else shape.is_contiguous(axes)
    if found is None:
        found = dense
    if fact.kind == "maybe" and not found:
        return Layout(sizes=sizes, strides=None, contiguous=None)  # a copy is dense
    strides = None if found or all(axis.stride is None for axis in axes) else tuple([axis.stride for axis in axes])
    return Layout(sizes=sizes, strides=strides, contiguous=found)


def added(binding: Binding, fact: ReturnFact) -> list[int] | None:
    """Return the axes that a pattern adds, and along which elements repeat; None where no pattern says that."""
    if fact.shape is None or fact.shape.rule is not ShapeRule.REARRANGE:
        return None
    return shape_rules.repeated(fact.shape, CallOperands(binding))


def laid(binding: Binding, fact: ReturnFact, ref: Ref, source: Tensor, place: int) -> Tensor:
    """
    Return the tensor that a view is made of, which has as many axes from then on as the call names.

    A vector lies along its axis of a grid before it is expanded.
    """
    source = _told(binding, fact, ref, source)
    if fact.shape is None or fact.shape.rule is not ShapeRule.GRID or source.sizes is None:
        return source
    sizes = shape_rules.along(fact.shape, CallOperands(binding), place, next(iter(source.sizes), 1))
    return replace(source, sizes=sizes)


def _keeps_gaps(binding: Binding, fact: ReturnFact, source: Tensor) -> bool:
    """Check whether a view of a tensor with gaps has some: parts of it, and rows where these have gaps already."""
    assert fact.shape is not None
    if fact.shape.rule is not ShapeRule.INDEX:
        return False
    if not source.part or source.part[-1][0] != Moves.ROWS:  # `h.t()`, not `h[::2]`
        return True
    index = binding.value(str(fact.shape.args[1]))
    parts = index.items if isinstance(index, Tuple) and index.exact else (index,)
    return all(isinstance(part, SliceValue) for part in parts)


def views(binding: Binding, name: str) -> Three:
    """Return whether a tensor can get the shape of the result without a copy; None if unknown."""
    tensor = binding.tensor(name)
    facts = [part for one in binding.op.returns for part in (one, *one.items)]
    fact = next((one.shape for one in facts if one.shape is not None), None)
    if fact is not None and fact.rule is ShapeRule.REARRANGE:  # of several tensors, each of them
        return shape_rules.views(fact, CallOperands(binding, strided=True)) if binding.tensors(name) else None
    if tensor is None or fact is None or tensor.contiguous or tensor.sizes is None:
        return None if tensor is None else tensor.contiguous
    if tensor.base is None and tensor.strides is None:
        return tensor.contiguous  # IMPRECISE: a new tensor that is not contiguous is taken for one that is copied
    return shape_rules.views(fact, CallOperands(binding, strided=True))


def kept_by_matmul(binding: Binding, name: str, other: str) -> Three:
    """Return whether `matmul` with another operand keeps a tensor itself, and no copy; None if unknown."""
    operands, first = CallOperands(binding, strided=True), binding.op.args[0].name == name
    tensor, axes, right = binding.tensor(name), operands.axes(name), binding.tensor(other)
    known = None if right is None or right.sizes is None else operands.axes(other)
    is_matrix = known is not None and len(known) <= products.MATRIX
    if tensor is None or tensor.sizes is None or axes is None:
        if first and is_matrix:
            return _by_steps(binding, tensor)
        return (not is_matrix and (tensor is None or is_dense(tensor, products.MATRIX))) or None
    return products.matmul_keeps(axes, known, first=first)


def rows(binding: Binding, name: str, turned: str = "") -> Three:
    """
    Return whether all axes of a tensor but the last merge without a copy; None if unknown.

    `turned` is a flag by which the first two axes are exchanged before: (time, batch, features).
    """
    tensor, turns = binding.tensor(name), bool(turned) and binding.truth(Atom(Predicate.TRUTH, (turned,)))
    if tensor is None or turns is None or (turned and binding.value(turned) is None):
        return None if turned else True
    axes = None if tensor.sizes is None else CallOperands(binding, strided=True).axes(name)
    if axes is None:
        return not turns and _by_steps(binding, tensor)
    if len(axes) < _BATCHED:
        return shape.merge(axes[:-1])[1] if turned else True
    kept = shape.merge((axes[1], axes[0]) if turns else axes[:-1])[1]
    return _by_steps(binding, tensor) if kept is None and not turned else kept


def _by_steps(binding: Binding, tensor: Tensor | None) -> Three:
    """Return whether a tensor of unknown axes or strides is rows without a copy, by the steps that lead to it."""
    if tensor is None or tensor.contiguous:
        return True
    kept = tensor.part is not None and tensor.base is not None and keeps_rows(binding.state, tensor.part)
    return kept if tensor.contiguous is False else kept or is_dense(tensor, 1) or None


def kept_by_einsum(binding: Binding, name: str, equation: str) -> Three:
    """Return whether `einsum` keeps an operand itself, and no copy; None if unknown."""
    tensor = binding.tensor(name)
    if tensor is None:
        return None
    axes = None if tensor.sizes is None else CallOperands(binding, strided=True).axes(name)
    number = [argument.name for argument in binding.op.args if argument.name != equation].index(name)
    return products.einsum_keeps(binding.value(equation), number, axes, contiguous=tensor.contiguous)


def answer(state: State, kind: str, arguments: tuple[Value, ...]) -> Value | None:
    """Return what a question about the first argument is answered with; None for others, and where it is not known."""
    first, *others = arguments
    tensor = state.tensor(first)
    match kind:
        case "floating" | "complex":
            return _constant(dtypes.is_of(state, first, kind))
        case "is_tensor":
            other = isinstance(first, Const | Tuple) or isinstance(state.object(first), ListObject | DictObject)
            return Const(True) if tensor is not None else Const(False) if other else None
        case "numbers":
            return _limits(state, first)
        case "is_contiguous" if tensor is not None and all(other == NONE for other in others):
            return _constant(tensor.contiguous)
        case _:
            return None if tensor is None else _of_made(state, kind, tensor)


def _limits(state: State, dtype: Value) -> Sym | None:
    """Return an object that has the limits of a dtype; None where it is not known which one."""
    limits = dtypes.limits(state, dtype)
    found = state.symbols.sym((origins.VALUE, "limits", (dtype,)))
    for name, value in (limits or {}).items():
        state.set_trait(traits.UNKNOWN_ATTRIBUTE, (found.id, name), value)
    return found if limits else None


def _constant(value: bool | None) -> Const | None:
    return None if value is None else Const(value)


def _of_made(state: State, kind: str, tensor: Tensor) -> Value | None:
    """Return what is known of a tensor that a call has made, or of a view of one."""
    base = tensor if tensor.base is None else state.tensor(tensor.base)
    if base is None or View.MAYBE in {tensor.view, base.view} or not (base.made or base.param):
        return None
    match kind:
        case "not_dense":
            return Const(False) if tensor.contiguous else None
        case "version":
            own = tensor.counted and base.view is None and not base.param
            return Const(state.storages[tensor.storage].version) if own else None
        case "base" | "is_view":
            view = tensor.base if tensor.view not in _APART else None
            return Const(view is not None) if kind == "is_view" else view or NONE
        case _:
            return None


def note_axes(binding: Binding, fact: ShapeFact, ref: Ref) -> None:
    """Record what is known of the axes of a new tensor of which the number is not: that one has size 1, or a bound."""
    if makes_unit_axis(binding, fact):
        binding.state.set_trait(traits.UNIT_AXIS, ref.id, True)
    least = _least_axes(binding, fact)
    if least:
        binding.state.set_trait(traits.LEAST_AXES, ref.id, least)


def _least_axes(binding: Binding, fact: ShapeFact) -> int:
    """
    Return how many axes a result has at least: one where sizes are passed, and one more than what is stacked.

    IMPRECISE: sizes that are not known could be an empty tuple.
    """
    name = str(fact.args[0])
    if fact.rule is ShapeRule.SIZES:
        return int(binding.value(name) is not None)
    if fact.rule not in {ShapeRule.STACK, ShapeRule.INSERT}:
        return 0
    items = members(binding, name) if fact.rule is ShapeRule.STACK else (binding.value(name),)
    return 1 + min((least_axes(binding.state, item) for item in items or () if item is not None), default=0)


def least_axes(state: State, value: Value) -> int:
    """Return how many axes a tensor has at least."""
    ref, tensor = state.ref(value), state.tensor(value)
    if tensor is None or ref is None or tensor.sizes is not None:
        return len(tensor.sizes or ()) if tensor is not None else 0
    return state.trait(traits.LEAST_AXES, ref.id) or 0


def unknown_number(state: State, name: str, arguments: tuple[Value, ...], version: int, kind: str) -> Sym:
    """Return the number that a method tells of a tensor as an unknown value, with the bound of a number of axes."""
    found = state.symbols.sym((origins.SHAPE, name, arguments, version), "number")
    if kind == ValueKind.RANK:
        note_least(state, found, arguments[0])
    return found


def note_least(state: State, number: Sym, tensor: Value) -> None:
    """Record of a number of axes that it is not less than it can be."""
    least = least_axes(state, tensor)
    if least:
        state.set_trait(traits.LEAST, number.id, least)
