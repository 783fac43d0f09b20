"""
Evidence that a tensor has no gradient, as whole numbers, flags and tables have none: how the program uses it.

    row, col = edge_index
    x.index_select(0, row)      # an index: neither it nor the tensor that it is a part of can require grad
    x.split(width, 0)           # a size, as axes are
    tokens != pad_id            # floating numbers are hardly compared like this
    F.cross_entropy(x, labels)  # what is trained is compared with them
    table.to(x.device)          # no layer made it: it would be where `x` is
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from inplace_lint.core.assumption import Assumption
from inplace_lint.domain import origins, traits, unknown_history
from inplace_lint.domain.heap import View
from inplace_lint.domain.values import Const, Sym, SymId, Three, Tuple, Value
from inplace_lint.knowledge.guard import atoms, holds
from inplace_lint.knowledge.words import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inplace_lint.domain.state import State
    from inplace_lint.interp.transfer.op_call import Call
    from inplace_lint.knowledge.framework import Framework
    from inplace_lint.knowledge.op import Op

_SHARING = frozenset({Result.VIEW, Result.SELF, Result.MAYBE, Result.LIST, Result.VALUE})


def note(call: Call) -> None:
    """Remember the tensors of a call that certainly have no gradient, and what they are made of."""
    framework, binding = call.facts.framework, call.binding
    op = binding.op.name
    if op in framework.bitwise or (op in framework.equality and _with_whole(call)):
        names = binding.given
    else:
        names = binding.given & framework.indices
    for name in names:
        mark(call.state, binding.values[name])
    if op in framework.labels:
        _mark_labels(call.state, binding.values.get(framework.labels[op]))
    if op in framework.moves and _is_moved(call, framework.moves[op]):
        mark(call.state, binding.values["self"], exact=False)


def counted(op: Op) -> frozenset[str]:
    """Return the arguments of an op that are sizes or axes, unless its forms differ in what they are."""
    known = _COUNTED.get(id(op))
    if known is None:
        facts = (one for fact in op.returns for one in (fact, *fact.items) if one.shape is not None)
        names = {name for fact in facts if fact.shape is not None for name in fact.shape.counts}
        asked = {name for atom in atoms(op.condition) for name in atom.args}
        known = _COUNTED[id(op)] = (op, frozenset(name for name in names - asked if isinstance(name, str)))
    return known[1]


_COUNTED: dict[int, tuple[Op, frozenset[str]]] = {}  # with the op, so that it lives as long as its id


def _is_moved(call: Call, device: str) -> bool:
    """Check whether a tensor is moved to another one, of which it is no result: `table.to(x.device)`."""
    given = call.binding.values
    places = (value for name in given for value in _items(given[name]) if name != "self")
    keys = (call.state.symbols.key(value) for value in places if isinstance(value, Sym))
    owners = (key[2][0] for key in keys if isinstance(key, tuple) and key[:2] == (origins.VALUE, device))
    tensors = map(call.state.tensor, owners)
    return any(tensor is not None and not tensor.param for tensor in tensors)


def _items(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, Tuple) else (value,)


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
    for item in _items(value):
        if isinstance(item, Sym):
            state.set_trait(traits.NO_GRADIENT, item.id, True)
        for _, tensor in state.tensors_in(item):
            if tensor.rg is None and (tensor.dtype == "unknown" or not exact) and isinstance(tensor.why, Assumption):
                _has_none(state, SymId(tensor.why.of))


def computed(state: State, result: Sym, given: Sequence[Value]) -> Sym:
    """
    Return what a call returns: it has no gradient where none is recorded and the call computes with data.

        with torch.no_grad():
            target = functional_call(net, averages, (x,))
    """
    items = (item for value in given for item in _items(value))
    if state.modes.grad is False and any(_is_data(state, item) for item in items):
        state.set_trait(traits.NO_GRADIENT, result.id, True)
    return result


def _is_data(state: State, value: Value) -> bool:
    tensor = state.tensor(value)
    if tensor is None:
        return isinstance(value, Sym) and value.kind in {"tensor", "input"}
    return not tensor.param


def _mark_labels(state: State, value: Value | None) -> None:
    """Remember that what an entry point was given as the labels of a loss, or a view of it, is a tensor for data."""
    for _, tensor in () if value is None else state.tensors_in(value):
        if tensor.rg is None and isinstance(tensor.why, Assumption):
            given = Sym(SymId(tensor.why.of))
            known = state.tensor(given)
            is_it = known is not None and known.storage == tensor.storage
            if is_it and unknown_history.is_parameter(state, unknown_history.owner(state, given)):
                state.set_trait(traits.IS_TENSOR, given.id, True)
                _has_none(state, given.id)


def _has_none(state: State, number: SymId) -> None:
    """Remember that an unknown value has no gradient, and neither has the tensor that it was taken for."""
    state.set_trait(traits.NO_GRADIENT, number, True)
    ref, tensor = state.ref(Sym(number)), state.tensor(Sym(number))
    if ref is not None and tensor is not None and tensor.rg is None and not tensor.nodes:
        state.put(ref, replace(tensor, rg=False, why=""))


def _with_whole(call: Call) -> bool:
    """Check whether an operand is a Python number that is whole and not 0, or an unknown number."""
    return any(_is_whole(call.binding.values[name]) for name in call.binding.given)


def _is_whole(value: Value) -> bool:
    if isinstance(value, Const):
        return type(value.value) is int and value.value != 0
    return isinstance(value, Sym) and value.kind == "number"


def computes_of_array(call: Call) -> bool:
    """Check whether a method of another library's array computes something new, which is an array or a number."""
    op = call.binding.op
    tensor = call.binding.tensor(op.args[0].name) if op.args else None
    base = tensor if tensor is None or tensor.base is None else call.state.tensor(tensor.base)
    if tensor is None or base is None or View.UNTRACKED not in {tensor.view, base.view}:
        return False
    if _SHARING & {fact.kind for fact in op.returns}:
        return False
    return not any(fact.condition is None or holds(fact.condition, call.binding) for fact in op.writes)


def flag_of(framework: Framework, name: str, *, param: bool = False) -> Three:
    """Return whether an attribute says that a tensor requires no grad, False if that it does; None for any other."""
    if name == framework.requires_grad:
        return framework.negated
    only = framework.flags.get(name)
    return None if only is None or (only and not param) else False
