"""
Operators on unknown values, which are put on the tape once one of these values is shown to be a tensor.

    d = x - 1           # a number, an array or a tensor
    s = d * d
    d.mul_(2)           # only a tensor has this method: `s` keeps `d` for backward
"""

from __future__ import annotations

from typing import Any

from inplace_lint.domain import origins, traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, Sym, SymId, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.transfer import materialise


def note(frame: Frame, state: State, operands: tuple[Value, ...], result: Value, at: int) -> None:
    """
    Remember where an operator was applied to operands that may turn out to be tensors: inputs, and what these give.

    `result` is the unknown value that it gave.
    """
    if not isinstance(result, Sym) or result.kind == "number" or state.modes.grad is False:
        return
    inputs = {one.id for one in operands if isinstance(one, Sym) and _is_open(state, one)}
    if state.has_trait(traits.COMPUTED_AT, result.id):
        state.set_trait(traits.COMPUTED_AT, result.id, None)  # computed again: of tensors these are two
        state.set_trait(traits.OPERAND_OF, result.id, ())
        return
    if not inputs:
        return
    state.set_trait(traits.COMPUTED_AT, result.id, (frame, at, state.modes))
    for number in inputs:
        state.set_trait(traits.OPERAND_OF, number, (*(state.trait(traits.OPERAND_OF, number) or ()), result.id))


def _is_open(state: State, value: Sym) -> bool:
    """
    Check whether nothing has shown a value to be a tensor that is an input, or was computed from one.

    That is done by an operator, or by an unknown call that was given what has a history.
    """
    if state.has_trait(traits.COMPUTED_AT, value.id):
        known = state.trait(traits.COMPUTED_AT, value.id) is not None
    else:
        known = value.kind == "input" or (not value.kind and state.trait(traits.CALL_NODE, value.id) is not None)
    return known and state.ref(value) is None


def settle(interp: Interpreter, state: State, value: Value) -> None:
    """Put on the tape what a tensor was computed from, and what was computed from it, while it was unknown."""
    if not isinstance(value, Sym):
        return
    if state.trait(traits.COMPUTED_AT, value.id) is not None:
        _settle_source(interp, state, value)
    if state.trait(traits.OPERAND_OF, value.id):
        materialise.materialise(interp, state, value)
        _settle_results(interp, state, value.id)


def _settle_source(interp: Interpreter, state: State, value: Sym) -> None:
    """Put a value that was computed from a tensor on the tape; of two operands either may be the tensor."""
    key: Any = state.symbols.key(value)
    unknown = [one for one in key[2:4] if isinstance(one, Sym) and _is_open(state, one)]
    if len({*unknown}) > 1:
        return
    if unknown:
        settle(interp, state, unknown[0])
    _record(interp, state, value.id)


def _settle_results(interp: Interpreter, state: State, number: SymId) -> None:
    results = state.trait(traits.OPERAND_OF, number) or ()
    if results:
        state.set_trait(traits.OPERAND_OF, number, ())
    for result in results:
        _record(interp, state, result)
        if state.has_trait(traits.TENSOR, result):
            _settle_results(interp, state, result)


def _record(interp: Interpreter, state: State, number: SymId) -> None:
    """Apply the operator that an unknown value is the result of, on operands of which one is a tensor."""
    known = state.trait(traits.COMPUTED_AT, number)
    if known is None or state.has_trait(traits.TENSOR, number):
        return
    named = _method(interp, state, state.symbols.keys[number])
    if named is None:
        return
    state.set_trait(traits.COMPUTED_AT, number, None)
    frame, at, modes = known
    today, state.modes = state.modes, modes
    for after, made in interp.apply_op(frame, state, *named, at)[:1]:
        if after is state and isinstance(made, Ref):
            state.set_trait(traits.TENSOR, number, made)
    state.modes = today


def _method(interp: Interpreter, state: State, key: Any) -> tuple[str, Arguments] | None:  # noqa: ANN401 - as symbols have it
    """Return the method that an operator stands for, with its arguments; None while no operand is a tensor."""
    operands: tuple[Value, ...] = key[2:4] if key[0] is origins.BINARY else key[2:3]
    for first, others in ((operands[0], operands[1:]), (operands[-1], operands[:-1])):
        facts = materialise.framework_of(interp, state, first)
        if facts is not None:
            names = facts.framework
            methods = names.unary if not others else names.binary if first is operands[0] else names.reflected
            return f"{names.tensor}.{methods[key[1]]}", Arguments((first, *others))
    return None
