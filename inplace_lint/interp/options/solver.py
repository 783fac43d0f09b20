"""
Option solver: the arguments on which a condition takes the side that no path took.

    `depth > 0`, on the default 0      ->  depth=1
    `mode in ("a", "b")`               ->  mode="a"
    `"a" in mode.lower()`              ->  mode="a", or the text with an "a" that another condition names
    `width is not None`                ->  an unknown width
    `norm is not None`, where it is `Norm() if use_norm else None`      ->  use_norm=True
    `isinstance(index, list)`          ->  an unknown index

Conditions are the keys of symbols: comparisons with constants, memberships, truth, `is None`, `isinstance`, and `not`
of these.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from functools import partial
from typing import TypeGuard

from inplace_lint.domain import origins
from inplace_lint.domain.state import State, Symbols
from inplace_lint.domain.values import NONE, Const, Sym, SymId, Tuple, Value
from inplace_lint.interp.options.coverage import Choice, Coverage, Missed

_NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"==": "==", "is": "is", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_COMPARES = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
_A_RATE = 0.5


def solve(coverage: Coverage, symbols: Symbols, missed: Missed) -> Choice | None:
    """Return what to run the entry point on for a missed side, on top of what it ran on; None if it is not known."""
    if missed.condition is None:
        return None
    solution = _Solution(coverage, symbols)
    if not solution.require(missed.condition, missed.side):
        return None
    options = {**dict(missed.choice.options), **solution.options}
    sides = {**dict(missed.choice.sides), **dict(missed.sides), **solution.sides}
    return Choice(missed.method, tuple(options.items()), tuple(sides.items()))


def picked(state: State, value: Value, test: Value, side: bool) -> Value:
    """Return a None that knows the option for which a condition took its side: `Norm() if norm else None`."""
    option = test.source if type(test) is Const else None
    if option is None or type(value) is not Const or value.value is not None or value.source is not None:
        return value
    return Const(None, value.origin, state.symbols.sym((origins.PICKED, option, side)).id)


class _Solution:
    """Arguments by the symbols of their parameters, and the sides of conditions on unknown values."""

    def __init__(self, coverage: Coverage, symbols: Symbols) -> None:
        self.options: dict[SymId, Value] = {}
        self.sides: dict[Hashable, bool] = {}
        self._known = coverage.options
        self._keys = symbols.keys
        self._missed = coverage.missed

    def require(self, condition: SymId, side: bool) -> bool:
        """Make a condition take a side; False where no argument is known that does."""
        if condition in self._known:
            return self._require_truth(condition, side)
        if not self._solves(condition, side):
            return False
        if any(type(value) is Sym for value in self.options.values()) and condition not in self.sides:
            self.sides[condition] = side  # what is left open takes it, too
        return True

    def _solves(self, condition: SymId, side: bool) -> bool:
        match self._keys[condition]:
            case (origins.NOT, int(operand)):
                return self.require(SymId(operand), not side)
            case (origins.IS_NONE, int(operand)) if (picked := self._picked(operand)) is not None:
                return self.require(picked[0], picked[1] is side)
            case (origins.PICKED, int(decides), bool(picked_on)):
                return self.require(SymId(decides), picked_on is not side)
            case (origins.IS_NONE, int(operand)) if operand in self._known:
                self.sides[condition] = side  # the path that missed it took the other one
                return self._give(SymId(operand), side)
            case (origins.COMPARE, "in", Const(str()) as part, Sym(number)) if number in self._known:
                return self._require_part(number, part, side)
            case (origins.COMPARE, str(op), Sym(number), Const() as constant) if number in self._known:
                return self._require_value(number, op, constant, side)
            case (origins.COMPARE, str(op), Const() as constant, Sym(number)) if number in self._known:
                return op in _MIRRORED and self._require_value(number, _MIRRORED[op], constant, side)
            case (origins.COMPARE | origins.CONTAINS, *_, Sym(number), Tuple(items)) if number in self._known:
                return self._require_member(number, items, side)
            case (origins.BUILTIN, str(), Sym(number), _) if isinstance(self._default(number), int | float | str):
                self.options[number] = Sym(number)  # of another class than its default
                return True
            case _:
                # An unknown value takes the other side; nobody knows how the program comes to it.
                self.sides[condition] = side
                return True

    def _picked(self, number: int) -> tuple[SymId, bool] | None:
        """Return the condition, and its side, for which a value is None: `Norm() if norm else None`."""
        match self._keys[SymId(number)]:
            case (origins.PICKED, int(decides), bool(side)):
                return SymId(decides), side
            case _:
                return None

    def _require_truth(self, number: SymId, side: bool) -> bool:
        option = self._known[number]
        match option.value:
            case Const(bool()):
                self.options[number] = Const(side)
            case Const(int() as known):
                self.options[number] = Const((known or 1) if side else 0)
            case Const(float() as known):
                self.options[number] = Const((known or _A_RATE) if side else 0.0)
            case Const() if not side:
                self.options[number] = NONE
            case Const():
                self._leave_open(number)
                self.sides[number] = True
            case _:
                self.sides[number] = side
        return True

    def _give(self, number: SymId, none: bool) -> bool:
        """Pass None, or anything else."""
        if isinstance(self._known[number].value, Sym):
            self.sides[origins.NONE, number] = none
        elif none:
            self.options[number] = NONE
        elif self._known[number].kind == "flag":
            self.options[number] = Const(True)
        else:
            self._leave_open(number)
            self.sides[origins.NONE, number] = False
        return True

    def _leave_open(self, number: SymId) -> None:
        """Pass an unknown value, of the kind that the annotation promises."""
        if isinstance(self._known[number].value, Sym):
            return
        kind = self._known[number].kind
        self.options[number] = Sym(number, "" if kind == "flag" else kind)

    def _require_member(self, number: SymId, items: tuple[Value, ...], side: bool) -> bool:
        if side:
            values = [item.value for item in items if isinstance(item, Const)]
            first = self._named(number, values.__contains__) or (Const(values[0]) if values else None)
            if first is not None:
                self.options[number] = first
            return first is not None
        self._leave_open(number)
        return True

    def _require_part(self, number: SymId, part: Const, side: bool) -> bool:
        """Pass a text that contains another one; one without it: of letters (`"r" in order`) those that are left."""
        default, text = self._default(number), str(part.value)
        known = default if isinstance(default, str) and text in default else None
        named = self._named(number, lambda value: isinstance(value, str) and (text in value) is side)
        if side:
            self.options[number] = (named or part) if known is None else Const(known)
        elif known is not None and len(text) == 1:
            self.options[number] = Const(known.replace(text, ""))
        elif named is not None:
            self.options[number] = named
        else:
            self._leave_open(number)
        return True

    def _named(self, number: SymId, fits: Callable[[object], bool]) -> Const | None:
        """Return the first constant that fits of those that an option has to be one of: `assert mode in ("a", "b")`."""
        for missed in self._missed.values():
            found = None if missed.condition is None else self._required(missed.condition, missed.side, number)
            if found is not None:
                return next((item for item in found if isinstance(item, Const) and fits(item.value)), None)
        return None

    def _required(self, condition: SymId, missed: bool, number: SymId) -> tuple[Value, ...] | None:
        """Return what an option has to be one of, where that is the condition of which a side was missed."""
        match self._keys[condition]:
            case (origins.NOT, int(operand)):
                return self._required(SymId(operand), not missed, number)
            case (origins.COMPARE | origins.CONTAINS, *_, Sym(asked), Tuple(items)) if asked == number and not missed:
                return items
            case _:
                return None

    def _require_value(self, number: SymId, op: str, constant: Const, side: bool) -> bool:
        if op in {"==", "is"}:
            if side:
                self.options[number] = constant
            elif isinstance(constant.value, bool):
                self.options[number] = Const(not constant.value)
            elif _is_number(constant.value):
                self.options[number] = Const(constant.value + (1 if isinstance(constant.value, int) else _A_RATE))
            else:
                self._leave_open(number)
            return True
        if op not in _NEGATED or not _is_number(constant.value):
            return False
        op = op if side else _NEGATED[op]
        step = {"<": -1, ">": 1}.get(op, 0)
        a_rate = step > 0 and constant.value == 0 and isinstance(self._default(number), float)
        named = self._named(number, partial(_holds, op, constant.value))
        self.options[number] = named or Const(_A_RATE if a_rate else constant.value + step)
        return True

    def _default(self, number: SymId) -> object:
        default = self._known[number].value if number in self._known else NONE
        return default.value if isinstance(default, Const) else None


def _holds(op: str, bound: float, value: object) -> bool:
    return _is_number(value) and _COMPARES[op](value, bound)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float)
