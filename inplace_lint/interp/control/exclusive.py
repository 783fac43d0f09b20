"""
Conditions that do not hold together, without a decision which of them does not.

    if mask is not None and bias is not None:
        raise ValueError("not both")
    if mask is not None:        # a path comes here, and `bias` is None on it
        scores *= mask
"""

from __future__ import annotations

from inplace_lint.domain import origins, traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Sym, SymId, Three, Value


def exclude(state: State, first: Value, second: Value) -> bool:
    """Remember that two unknown conditions are not both true; False where that cannot be remembered."""
    if not (isinstance(first, Sym) and isinstance(second, Sym)):
        return False
    left, right = _condition(state, first.id), _condition(state, second.id)
    for (number, side), (other, others) in ((left, right), (right, left)):
        _add(state, number, (side, other, others))
        key = state.symbols.keys[number]
        if isinstance(key, tuple) and key[:1] == (origins.IS_NONE,) and not side:
            _add(state, SymId(key[1]), (True, other, others))  # what is true is not None
    return True


def side_left(state: State, number: SymId) -> Three:
    """Return the side of an unknown condition that is left, where the other one is excluded; None if both are."""
    for side, other, others in state.trait(traits.EXCLUSIVE, number) or ():
        if _side(state, other) is others:
            return not side
    return None


def _add(state: State, number: SymId, entry: tuple[bool, SymId, bool]) -> None:
    known = state.trait(traits.EXCLUSIVE, number) or ()
    if entry not in known:
        state.set_trait(traits.EXCLUSIVE, number, (*known, entry))


def _condition(state: State, number: SymId) -> tuple[SymId, bool]:
    """Return the condition that a symbol is, without `not`, and its side where the symbol is true."""
    key, side = state.symbols.keys[number], True
    while isinstance(key, tuple) and key[:1] == (origins.NOT,):
        number, side = SymId(key[1]), not side
        key = state.symbols.keys[number]
    return number, side


def _side(state: State, number: SymId) -> Three:
    """Return the side of a condition that a path took, or that follows from one which it took."""
    known, key = state.truth(number), state.symbols.keys[number]
    if known is not None:
        return known
    if isinstance(key, tuple) and key[:1] == (origins.IS_NONE,):
        asked = SymId(key[1])
        known = state.truth((origins.NONE, asked))
        return False if known is None and (state.truth(asked) or state.has_trait(traits.TENSOR, asked)) else known
    return False if state.truth((origins.NONE, number)) else None
