"""
Reports what a forward hook stores of an activation that the model then overwrites.

    def keep(module, inputs, output):
        self.features = output              # or a global variable, an item of a dict, a list

    net.conv.register_forward_hook(keep)    # and `net` goes on with `ReLU(inplace=True)`

A hook is there to show what a layer computes, and does not know what its model does next. So the write is reported
wherever it stands, as long as something still leads to what was stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Keeping, Snapshot, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain import traits
from inplace_lint.domain.heap import BESIDE, Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, Value
from inplace_lint.interp.checkers import liveness
from inplace_lint.ir import nodes as ir

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.op_call import Call


def keep(state: State, place: Place, value: Value) -> None:
    """Remember that a value was stored outside of the function that runs, if that is a hook."""
    if state.trait(traits.IN_HOOK, None) is not True:
        return
    for ref, tensor in state.tensors_in(value):
        if tensor.view in {None, *BESIDE} and not tensor.param:
            state.set_trait(traits.KEPT_BY_HOOK, tensor.storage, (ref, place))


def write(call: Call, touch: Touch, ref: Ref, tensor: Tensor) -> None:
    """Report a write to what a hook has stored."""
    kept = call.state.trait(traits.KEPT_BY_HOOK, tensor.storage)
    if kept is None or call.state.trait(traits.IN_HOOK, None) is True:
        return
    stored, place = kept
    expr = call.binding.exprs.get(touch.part)
    alias = call.state.tensor(stored)
    if isinstance(expr, ir.Subscript | ir.Attr) or alias is None or alias.base not in {None, ref, tensor.base}:
        return
    if not liveness.is_dropped(call.frame, call.state, stored):
        assumptions = call.state.assumptions | call.doubt | tensor.doubt
        call.state.report(Snapshot(call.facts.framework.name, Keeping.HOOK, touch, place, None, assumptions))
