"""
Evidence that a tensor holds whole numbers or flags, which have no gradient: how the program uses it.

    row, col = edge_index
    x.index_select(0, row)      # an index: neither it nor the tensor that it is a part of can require grad
    tokens != pad_id            # floating numbers are hardly compared like this
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.core.assumption import Assumption
from inplace_lint.domain import traits
from inplace_lint.domain.values import Const, Sym, SymId, Tuple, Value

if TYPE_CHECKING:
    from inplace_lint.domain.state import State
    from inplace_lint.interp.transfer.op_call import Call


def note(call: Call) -> None:
    """Remember the tensors of a call that certainly hold whole numbers or flags, and what they are made of."""
    framework, binding = call.facts.framework, call.binding
    op = binding.op.name
    if op in framework.bitwise or (op in framework.equality and _with_whole(call)):
        names = binding.given
    else:
        names = binding.given & framework.indices
    for name in names:
        mark(call.state, binding.values[name])


def bound(alike: frozenset[str], values: dict[str, Value]) -> None:
    """Take the arguments beside a number for numbers, of those that are `alike`: the bounds of `clamp(0, width)`."""
    given = alike & values.keys()
    if any(_is_number(values[name]) for name in given):
        for name in given:
            value = values[name]
            if isinstance(value, Sym) and value.kind in {"", "input"}:
                values[name] = Sym(value.id, "number")


def _is_number(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, int | float)
    return isinstance(value, Sym) and value.kind == "number"


def mark(state: State, value: Value, *, exact: bool = True) -> None:
    """
    Remember that a value has no gradient, and neither has what it is made of.

    `exact`: it has none since it is whole, which it shares only with what certainly has its dtype.
    """
    for item in value.items if isinstance(value, Tuple) else (value,):
        if isinstance(item, Sym):
            state.set_trait(traits.NO_GRADIENT, item.id, True)
        for _, tensor in state.tensors_in(item):
            if tensor.rg is None and (tensor.dtype == "unknown" or not exact) and isinstance(tensor.why, Assumption):
                state.set_trait(traits.NO_GRADIENT, SymId(tensor.why.of), True)


def _with_whole(call: Call) -> bool:
    """Check whether an operand is a Python number that is whole and not 0, or an unknown number."""
    return any(_is_whole(call.binding.values[name]) for name in call.binding.given)


def _is_whole(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) is int and value.value != 0
    return isinstance(value, Sym) and value.kind == "number"
