"""
In which order the axes of a new result lie in memory.

    x = self.embed(x).permute(0, 3, 1, 2)   # the channels are the second axis, and the last one in memory
    h = F.max_pool2d(x, 2).sigmoid()        # in the result of pooling, and of what is elementwise, they are so, too
    h.flatten(2)                            # and this is a copy
"""

from __future__ import annotations

from inplace_lint.domain import products, shape, unknown_history
from inplace_lint.domain.heap import Tensor
from inplace_lint.domain.shape import Size, Term
from inplace_lint.domain.values import Sym
from inplace_lint.interp.transfer.index import keeps_axes
from inplace_lint.interp.transfer.op_call import Call
from inplace_lint.interp.transfer.shapes import axes_of
from inplace_lint.knowledge.op import ReturnFact
from inplace_lint.knowledge.words import ShapeRule

_FORMATS = {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}  # the order of `channels_last`, by the number of axes
_BATCHED = 3
Strides = tuple[Term | None, ...]


def of_new(
    call: Call, fact: ReturnFact, model: Tensor | None, sizes: tuple[Size, ...] | None
) -> tuple[Strides | None, bool]:
    """
    Return the strides of a new result, None where it is contiguous or they are unknown, and whether it is contiguous.

    `model` is the first operand through which a gradient flows.
    """
    if fact.turned and (sizes is None or len(sizes) >= _BATCHED):
        return _in_order(sizes, [1, 0, *range(2, len(sizes or ()))])
    if fact.shape is not None and fact.shape.rule is ShapeRule.EINSUM:
        order = products.einsum_order(call.binding.value(str(fact.shape.args[0])))
        return (None, True) if order is None else _in_order(sizes, order)  # IMPRECISE: of an unknown one, as it stands
    if fact.contiguous is False or (not fact.contiguous and _is_of_unknown(call, fact)):
        return None, False
    if fact.contiguous or not _may_follow(call, fact, model, sizes):
        return None, True
    order = None if sizes is None else _order(call, len(sizes))
    if order is None or sizes is None:
        return None, False
    if fact.follows and order != _FORMATS.get(len(sizes)):
        return None, True
    return _in_order(sizes, order)


def _order(call: Call, rank: int) -> list[int] | None:
    """Return the order in memory of the axes of the first operand, if it has so many and is not contiguous."""
    first = next((pair for one in call.binding.op.args for pair in call.binding.tensors(one.name)), None)
    if first is None or first[1].contiguous is not False or first[1].sizes is None or first[1].rank != rank:
        return None
    axes = axes_of(call.state, first[0], first[1].sizes, first[1], strided=True)
    return shape.order(axes)


def _in_order(sizes: tuple[Size, ...] | None, order: list[int]) -> tuple[Strides | None, bool]:
    """Return the strides of axes that lie in memory in an order and without gaps, as `of_new` does."""
    if order == sorted(order):
        return None, True
    if sizes is None:
        return None, False
    dense = shape.dense(tuple([sizes[number] for number in order]))
    strides = {number: axis.stride for number, axis in zip(order, dense, strict=True)}
    axes = tuple([shape.Axis(size, strides[number]) for number, size in enumerate(sizes)])
    contiguous = shape.is_contiguous(axes) is True
    is_known = not contiguous and None not in strides.values()
    return tuple([axis.stride for axis in axes]) if is_known else None, contiguous


def _may_follow(call: Call, fact: ReturnFact, model: Tensor | None, sizes: tuple[Size, ...] | None) -> bool:
    """
    Check whether a new result may not be contiguous, since its axes keep the order of those of an operand.

    Of several operands of what is elementwise the first one decides that has the sizes of the result.
    """
    if model is None or call.facts.framework.dense_results:
        return False
    if not _is_elementwise(fact):
        return fact.follows and model.rank in {None, *_FORMATS} and not keeps_axes(model)
    operands = [tensor for name in call.binding.given for _, tensor in call.binding.tensors(name)]
    has_sizes = fact.shape is not None and fact.shape.rule is ShapeRule.LIKE
    first_decides = has_sizes or (sizes is not None and bool(operands) and operands[0].sizes == sizes)
    return not all(map(keeps_axes, [model] if first_decides or not operands else operands))


def _is_of_unknown(call: Call, fact: ReturnFact) -> bool:
    """
    Check whether a result has the strides of what an unknown call returned: its first operand.

    IMPRECISE: these are taken for ones that are not contiguous, as are results of which a fact says that they may not
    be, so that nothing is said of what a copy is kept of.
    """
    op = call.binding.op
    reflected = op.name.rpartition(".")[2].startswith("__r")
    if not (reflected or _is_elementwise(fact)) or not op.args:
        return False
    first = call.binding.values.get(op.args[-1 if reflected else 0].name)
    return type(first) is Sym and bool(unknown_history.nodes_behind(call.state, first))


def _is_elementwise(fact: ReturnFact) -> bool:
    return fact.shape is not None and fact.shape.rule in {ShapeRule.LIKE, ShapeRule.BROADCAST}
