"""
Tells what belongs to an object of which a `__getitem__` returns items: the next call returns it as a write leaves it.

    def __getitem__(self, idx):
        point = self.points[idx]                        # a view of what the object holds
        point -= 1

        crop = torch.from_numpy(self.volumes[idx])      # on the memory of an array that it holds
        crop -= 0.5
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Tensor
from inplace_lint.domain.values import Ref, Sym
from inplace_lint.ir import nodes as ir

if TYPE_CHECKING:
    from inplace_lint.interp.transfer.op_call import Call


def belongs_if(call: Call, part: str, expr: ir.Expr | None, ref: Ref, tensor: Tensor) -> frozenset[str] | None:
    """Return the assumptions under which what a call writes belongs to the object; None if nothing says so."""
    closure = call.frame.closure
    if not isinstance(expr, ir.Name) or closure is None or call.binding.op.history == "cut":
        return None
    if closure.function.qualname.rpartition(".")[2] != "__getitem__":
        return None
    is_own = expr.id not in {param.name for param in closure.function.params} and tensor.sure
    return frozenset() if is_own and _is_older(call, part, tensor) else _on_array_if(call, ref)


def _is_older(call: Call, part: str, tensor: Tensor) -> bool:
    """Check whether memory, or the container that it is an item of, is from before the call."""
    value, started = call.binding.value(part), call.frame.env.id
    match call.state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.ITEM, Ref(container), _):
            return container < started
        case _:
            return tensor.storage < started


def _on_array_if(call: Call, ref: Ref) -> frozenset[str] | None:
    """Return the assumption under which a tensor is on the memory of an item of what the object holds."""
    state, receiver = call.state, call.frame.receiver
    array = state.trait(traits.ON_ARRAY, ref.id)
    instance = None if receiver is None else state.instance(receiver)
    match state.symbols.key(array) if isinstance(array, Sym) else None:
        case (origins.ITEM, Sym() as owner, _) if instance is not None:
            name = next((name for name, value in instance.attrs.items() if value == owner), "")
            return frozenset({f"an item of `{name}` is not a copy"}) if name else None
        case _:
            return None
