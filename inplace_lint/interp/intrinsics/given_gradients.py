"""
Backward functions and hooks that the program defines: what they write into the gradient that they are given.

    h.register_hook(lambda grad: grad.mul_(0.1))      # writes it, whoever else is given the same tensor
    h.register_hook(lambda grad: grad * 0.1)          # does not
"""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.core.records import replace
from inplace_lint.domain.heap import Altering, Tensor, alike
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Closure, NodeId, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.intrinsics.call import IntrinsicCall


def written(
    act: IntrinsicCall, state: State, function: Value, before: Sequence[Value], of: Sequence[Tensor]
) -> Altering | None:
    """Return the first write by which a function changes the gradients of some tensors; None if there is none."""
    spare = state.fork()
    spare.modes = replace(spare.modes, grad=False)
    gradients = [
        Tensor(spare.new_storage(), rg=False, leaf=False, framework=tensor.framework, **alike(tensor)) for tensor in of
    ]
    given = Arguments((*before, *(spare.new(gradient) for gradient in gradients)))
    for after, value in act.interp.call(act.frame, spare, function, given, act.at):
        for gradient in gradients:
            for write in after.storages[gradient.storage].writes[:1]:
                return Altering(write.touch, value != NONE)
    return None


def mark(state: State, number: NodeId, write: Altering | None) -> None:
    """Record on the tape that backward writes the gradient that it gives to a node."""
    if write is not None:
        state.nodes[number] = replace(state.nodes[number], alters=write)


def note_hook(act: IntrinsicCall, tensor: Tensor, hook: Value) -> None:
    """Record what a hook on a tensor writes, where that is one result of an operation."""
    if isinstance(hook, Closure) and tensor.nodes and act.state.modes.grad is not False:
        mark(act.state, tensor.nodes[-1], written(act, act.state, hook, (), (tensor,)))
