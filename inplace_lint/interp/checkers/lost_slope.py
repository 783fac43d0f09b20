"""
Reports what was computed to be differentiated, and was written where no history is kept.

    grads = torch.autograd.grad(loss, weights, create_graph=True)
    for w, g in zip(weights, grads):
        w.data -= rate * g          # the next loss is computed from the new `w`, and knows nothing of `g`
        w.data = w - rate * g       # likewise
    loss_of(weights).backward()

Where a backward runs through the gradient in any other way, `create_graph` had its purpose.

    opt = SGD([*maker.parameters(), *net.parameters()])
    for x, y in data:
        net.weight.data.copy_(maker(x))         # `maker` never gets a gradient
        loss_of(net(x), y).backward()
        opt.step()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Lost
from inplace_lint.domain import tape, traits
from inplace_lint.domain.heap import BESIDE, Tensor
from inplace_lint.interp.intrinsics import opaque_modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from inplace_lint.core.event import Touch
    from inplace_lint.domain.state import State
    from inplace_lint.domain.values import NodeId, Ref, Value
    from inplace_lint.interp.interpreter import Interpreter
    from inplace_lint.interp.transfer.op_call import Call


def write(call: Call, part: str, ref: Ref, tensor: Tensor) -> None:
    """Remember the leaves that are written with such a gradient by a write that is not recorded."""
    is_recorded = call.state.modes.grad is not False and call.binding.op.history != "keep_old"
    if tensor.view not in BESIDE and is_recorded:
        return
    values = [one for name in call.binding.given - {part} for _, one in call.binding.tensors(name)]
    touch = call.touch(part, call.binding.exprs.get(part), tensor)
    _lose(call.interp, call.state, touch, tensor, values, call.doubt)


def replace(interp: Interpreter, state: State, touch: Touch, tensor: Tensor, value: Value) -> None:
    """Remember a leaf whose values are set to such a gradient."""
    given = state.tensor(value)
    if given is not None:
        _lose(interp, state, touch, tensor, [given], frozenset())


def _lose(
    interp: Interpreter,
    state: State,
    touch: Touch,
    tensor: Tensor,
    values: Sequence[Tensor],
    doubt: frozenset[str],
) -> None:
    """Remember that leaves with the memory of a tensor get values, if those are made of a differentiable gradient."""
    starts = [node for one in values if one.rg is not False for node in tape.nodes_of(state, one)]
    made = tape.reachable(state, starts)
    if made and _starves(state, touch, tensor, made):
        framework = interp.context.default().framework.name
        state.report(Lost(framework, touch, None, state.assumptions | doubt | tensor.doubt, starves=True))
        return
    found = {node for node in made if any(form.act == "grad" for form in interp.context.forms(state.nodes[node].op))}
    if not found or not found.isdisjoint(state.freed):
        return
    slope = traits.Slope(touch, state.assumptions | doubt | tensor.doubt, tuple(sorted(found)))
    for number, other in list(state.heap.items()):
        if type(other) is Tensor and other.storage == tensor.storage and other.leaf and other.rg:
            state.set_trait(traits.SLOPE, number, slope)
    weight = opaque_modules.weight_behind(state, tensor.storage)
    if weight is not None:
        state.set_trait(traits.SLOPE, weight.id, slope)


def _starves(state: State, touch: Touch, tensor: Tensor, made: Iterable[NodeId]) -> bool:
    """Check whether a parameter gets, for the second time, what others make that an optimizer has and no backward."""
    leaves = {leaf for node in made for leaf in state.nodes[node].leaves if state.has_trait(traits.OPTIMIZED, leaf)}
    trained = {leaf for leaf, _ in state.all_traits(traits.HAS_GRADIENT)} if leaves else leaves
    if not trained or not trained.isdisjoint(leaves):
        return False
    heap = state.heap.items()
    same = {number: one for number, one in heap if type(one) is Tensor and one.storage == tensor.storage}
    writes = state.storages[tensor.storage].writes
    is_again = not trained.isdisjoint(same) or any(write.touch.site == touch.site for write in writes)
    return is_again and any(one.param for one in same.values()) and leaves.isdisjoint(same)


def differentiate(state: State, framework: str, tensors: Sequence[Tensor]) -> None:
    """Report the leaves that a backward reaches, if it does not reach the gradient that they were written with."""
    pending = [(owner, slope) for owner, slope in state.all_traits(traits.SLOPE) if slope is not None]
    if not pending:
        return
    run = tape.reachable(state, [node for tensor in tensors for node in tape.nodes_of(state, tensor)])
    reached = {leaf for node in run for leaf in state.nodes[node].leaves}
    for owner, slope in pending:
        is_used = not run.keys().isdisjoint(slope.nodes)
        if owner in reached and not is_used:
            state.report(Lost(framework, slope.touch, None, state.assumptions | slope.assumptions, of_slope=True))
        if owner in reached or is_used:
            state.set_trait(traits.SLOPE, owner, None)
