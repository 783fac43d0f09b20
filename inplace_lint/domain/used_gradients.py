"""
Gradients that a program uses: the tensor that has one is a leaf that requires grad.

    if p.grad is None:
        continue
    p.mul_(0.9)         # `p` has a gradient: it is a parameter, and the write is refused where gradients are recorded

What was asked to keep its gradient need be no leaf.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NOT_TENSORS, Ref, Sym, SymId, Value


def owner(state: State, value: Sym) -> SymId | None:
    """Return the unknown value whose gradient a value is; None if it is none."""
    match state.symbols.keys[value.id]:
        case (origins.ATTRIBUTE, int(number), "grad") if value.kind not in NOT_TENSORS:
            return SymId(number)
        case _:
            return None


def note(state: State, values: Iterable[Value]) -> None:
    """Remember whose gradients are used."""
    for value in values:
        if type(value) is Ref and value.id in state.symbols.graded:
            note_leaf(state, state.trait(traits.GRADIENT_OF, value.id))
        number = owner(state, value) if type(value) is Sym else None
        if number is not None and not state.has_trait(traits.KEEPS_GRADIENT, number):
            state.set_trait(traits.HAS_USED_GRADIENT, number, True)
            note_leaf(state, state.trait(traits.TENSOR, number))


def note_leaf(state: State, ref: Ref | None) -> None:
    """Remember that a tensor is a leaf that requires grad, unless it was computed."""
    tensor = None if ref is None else state.tensor(ref)
    if ref is None or tensor is None:
        return
    if (tensor.rg is None and not tensor.nodes) or (tensor.rg and tensor.leaf is None):
        state.put(ref, replace(tensor, rg=True, leaf=True, nodes=()))
