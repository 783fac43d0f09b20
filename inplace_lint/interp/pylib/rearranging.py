"""
Functions of `itertools` that only put items in another order or into rows: what the items are does not matter.

    for layer, part in zip_longest(self.layers, x.chunk(2)): ...
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from inplace_lint.domain.heap import ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Const, Tuple, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Items, Results

_LONGEST = 256
_AROUND = 64  # so many items of an endless iterator are known
_OF_ALL: dict[str, Callable[..., Iterable[Any]]] = {  # all positional arguments are iterables
    "itertools.chain": itertools.chain,
    "itertools.product": itertools.product,
    "itertools.zip_longest": itertools.zip_longest,
}
_OF_FIRST: dict[str, Callable[..., Iterable[Any]]] = {  # the first is one, the others are numbers
    "itertools.combinations": itertools.combinations,
    "itertools.combinations_with_replacement": itertools.combinations_with_replacement,
    "itertools.cycle": itertools.cycle,
    "itertools.islice": itertools.islice,
    "itertools.pairwise": itertools.pairwise,
    "itertools.permutations": itertools.permutations,
}
_OF_ITEMS = "itertools.chain.from_iterable"
_ENDLESS = "itertools.cycle"
_NUMBERS = "itertools.count"
_CUT = "itertools.islice"
_SINGLE = frozenset({"itertools.chain", _ENDLESS, _CUT, _OF_ITEMS})  # those that make no rows


def rearrange(
    interp: Interpreter, frame: Frame, state: State, name: str, arguments: Arguments, at: int
) -> Results | None:
    """Return the items of a call of such a function; None for any other, or if its numbers are not known."""

    def turns(value: Value) -> Items:
        found = interp.items_of(frame, state, value, None, at)
        return found if found.items else interp.turns(frame, state, value, None, at)

    given = arguments.positional
    if name == _NUMBERS:
        return _count(state, arguments)
    called = _OF_ALL.get(name) or _OF_FIRST.get(name) or (itertools.chain if name == _OF_ITEMS else None)
    if called is None or arguments.unknown or not (given or name in _OF_ALL):
        return None
    outer = turns(given[0]) if name == _OF_ITEMS else Items(given[:1] if name in _OF_FIRST else given, exact=True)
    columns = [turns(value) for value in outer.items]
    numbers: list[Any] = [value.value for value in given[1:] if isinstance(value, Const)] if name in _OF_FIRST else []
    if name in _OF_FIRST and len(numbers) < len(given) - 1:
        return None
    options: dict[str, Any] = {"fillvalue": NONE} if name == "itertools.zip_longest" else {}
    for key, value in arguments.keywords:
        options[key] = value if key == "fillvalue" else value.value if isinstance(value, Const) else None
    most = _LONGEST + 1
    if name == _ENDLESS:
        most = max(len(columns[0].items), _AROUND if columns[0].exact else 0)
    try:
        made = called(*(column.items for column in columns), *numbers, **options)
        rows = tuple(itertools.islice(made, most))
    except (TypeError, ValueError):
        return None  # the program raises it, too
    known = all(column.exact for column in columns) or (name == _CUT and _ends_within(columns[0], numbers))
    exact = outer.exact and known and name != _ENDLESS and len(rows) <= _LONGEST
    if name == _ENDLESS and columns[0].exact:
        return [(state, state.new(ListObject(rows, exact=False)))]
    items = rows[:_LONGEST] if name in _SINGLE else tuple(Tuple(row) for row in rows[:_LONGEST])
    return [(state, Tuple(items, exact))]


def _count(state: State, arguments: Arguments) -> Results | None:
    """Return the first numbers that `count` yields, which `next` takes one by one; None where they are not known."""
    start = arguments.positional[0] if arguments.positional else arguments.named("start") or Const(0)
    step = arguments.positional[1] if len(arguments.positional) > 1 else arguments.named("step") or Const(1)
    if not (isinstance(start, Const) and isinstance(step, Const) and type(start.value) is type(step.value) is int):
        return None
    numbers = tuple(Const(number) for number in itertools.islice(itertools.count(start.value, step.value), _AROUND))
    return [(state, state.new(ListObject(numbers, exact=False)))]


def _ends_within(column: Items, numbers: Sequence[Any]) -> bool:
    """Check whether a slice, of `stop` or `start, stop, step`, ends before the items that are known do."""
    stop = numbers[min(len(numbers), 2) - 1] if numbers else None
    return isinstance(stop, int) and stop <= len(column.items)
