"""
Detects values that are written through a detached view of a tensor, and used with the history of that tensor.

    y = layer(x)
    y.data.mul_(2.0)                # the history of `y` lacks the factor
    y.cosh().sum().backward()

Of a sum with what has no gradient the history is right without it: `y.data.add_(noise)`, `y.data.frac_()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.event import Lost
from inplace_lint.domain import traits
from inplace_lint.domain.heap import BESIDE, Tensor
from inplace_lint.domain.values import Const, Ref, Tuple, Value
from inplace_lint.interp.transfer import unchanged

if TYPE_CHECKING:
    from inplace_lint.core.event import Touch
    from inplace_lint.interp.transfer.op_call import Call

_LOW = -1e4


def write(call: Call, touch: Touch, ref: Ref, tensor: Tensor) -> None:
    """Remember the tensors whose values are written through a detached view, beside their histories; not its own."""
    state, whole = call.state, ref if tensor.base is None else tensor.base
    base = state.tensor(whole)
    if base is not None and base.view in BESIDE and not unchanged.keeps_slope(call, touch.part):
        low = any(map(_is_low, call.binding.values.values()))
        written = traits.Beside(touch, state.assumptions | call.doubt | tensor.doubt, low)
        for number, other in state.heap.items():
            if type(other) is not Tensor or other.storage != tensor.storage or whole in {Ref(number), other.base}:
                continue
            if other.has_history:
                state.set_trait(traits.WRITTEN_BESIDE, number, written)


def _is_low(value: Value) -> bool:
    """Check whether an argument is, or contains, a number so low that its exponential beside other elements is 0."""
    if isinstance(value, Tuple):
        return any(_is_low(item) for item in value.items)
    return isinstance(value, Const) and isinstance(value.value, int | float) and value.value <= _LOW


def missed(call: Call, ref: Ref, read: Touch) -> Lost | None:
    """Return what the use of a tensor misses that was written through a detached view, unless the use leaves it out."""
    written = call.state.trait(traits.WRITTEN_BESIDE, ref.id)
    if written is None or (written.low and call.binding.op.name in call.facts.framework.excludes):
        return None
    why = call.state.assumptions | written.assumptions
    return Lost(call.facts.framework.name, written.touch, read, why, beside=True)
