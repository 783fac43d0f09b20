"""
Reports gradients that were made to be differentiated, and were written where no history is kept.

    grads = torch.autograd.grad(loss, weights, create_graph=True)
    for w, g in zip(weights, grads):
        w.data -= rate * g          # the next loss is computed from the new `w`, and knows nothing of `g`
    loss_of(weights).backward()

Where a backward runs through the gradient in any other way, `create_graph` had its purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Lost
from inplace_lint.domain import tape, traits
from inplace_lint.domain.heap import BESIDE, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inplace_lint.domain.state import State
    from inplace_lint.domain.values import NodeId, Ref
    from inplace_lint.interp.transfer.op_call import Call


def write(call: Call, part: str, ref: Ref, tensor: Tensor) -> None:
    """Remember the leaves that are written with such a gradient by a write that is not recorded."""
    state = call.state
    if tensor.view not in BESIDE and state.modes.grad is not False:
        return
    found = {node for name in call.binding.given - {part} for node in _slopes(call, name)}
    if not found or not found.isdisjoint(state.freed):
        return
    why = state.assumptions | call.doubt | tensor.doubt
    slope = traits.Slope(call.touch(part, call.binding.exprs.get(part), tensor), why, tuple(sorted(found)))
    for number, other in list(state.heap.items()):
        if type(other) is Tensor and other.storage == tensor.storage and other.leaf and other.rg:
            state.set_trait(traits.SLOPE, number, slope)


def _slopes(call: Call, name: str) -> list[NodeId]:
    """Return the nodes of differentiable gradients that an argument was computed from."""
    state, forms = call.state, call.interp.context.forms
    starts = [node for _, one in call.binding.tensors(name) if one.rg for node in tape.nodes_of(state, one)]
    return [node for node in tape.reachable(state, starts) if any(f.act == "grad" for f in forms(state.nodes[node].op))]


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
