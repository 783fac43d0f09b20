"""
Reports gradients that were made to be differentiated, and were written where no history is kept.

    grads = torch.autograd.grad(loss, weights, create_graph=True)
    for w, g in zip(weights, grads):
        w.data -= rate * g          # the next loss is computed from the new `w`, and knows nothing of `g`
        w.data = w - rate * g       # likewise
    loss_of(weights).backward()

Where a backward runs through the gradient in any other way, `create_graph` had its purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Lost
from inplace_lint.domain import tape, traits
from inplace_lint.domain.heap import BESIDE, Tensor
from inplace_lint.interp.intrinsics import opaque_modules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inplace_lint.core.event import Touch
    from inplace_lint.domain.state import State
    from inplace_lint.domain.values import Ref, Value
    from inplace_lint.interp.interpreter import Interpreter
    from inplace_lint.interp.transfer.op_call import Call


def write(call: Call, part: str, ref: Ref, tensor: Tensor) -> None:
    """Remember the leaves that are written with such a gradient by a write that is not recorded."""
    if tensor.view not in BESIDE and call.state.modes.grad is not False:
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
    found = {
        node
        for node in tape.reachable(state, starts)
        if any(form.act == "grad" for form in interp.context.forms(state.nodes[node].op))
    }
    if not found or not found.isdisjoint(state.freed):
        return
    slope = traits.Slope(touch, state.assumptions | doubt | tensor.doubt, tuple(sorted(found)))
    for number, other in list(state.heap.items()):
        if type(other) is Tensor and other.storage == tensor.storage and other.leaf and other.rg:
            state.set_trait(traits.SLOPE, number, slope)
    weight = opaque_modules.weight_behind(state, tensor.storage)
    if weight is not None:
        state.set_trait(traits.SLOPE, weight.id, slope)


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
