"""
Chooses the number of the last turn of a loop that turns more often than it is run.

    for turn, (x, y) in enumerate(loader):
        if (turn + 1) % 20 == 0:            # in none of the first turns: the last one gets the number 19
            optimizer.step()

The other turns keep their numbers, so that what they leave behind meets what only a later one does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Tuple, Value
from inplace_lint.effects.write_evidence import lowered_may_write
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Items
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

_MOST_NUMBERS = 12


def with_late_number(
    interp: Interpreter, frame: Frame, state: State, node: ir.For, iterable: Value, items: Items
) -> Items:
    """Return the items of a loop, the last one with a number at which it takes a side that may write, if one is."""
    target = node.target.items[0] if isinstance(node.target, ir.Sequence) and node.target.items else node.target
    numbers = [_number(item) for item in items.items]
    runs_all = items.exact and not items.left_out
    if runs_all or len(numbers) < 2 or not isinstance(target, ir.Name):  # noqa: PLR2004 - a first and a last one
        return items
    known = [number for number in numbers if number is not None]
    tests = _tests(node.body, target.id) if len(known) == len(numbers) else []
    if not tests:
        return items
    more = {_number(item): item for item in iterable.items} if type(iterable) is Tuple and iterable.exact else None
    late = _candidates(interp, frame, state, tests, target.id, known[-1])
    before = [_sides(interp, frame, state, tests, target, number) for number in known]
    found: list[tuple[int, int]] = []
    for number in [one for one in late if more is None or one in more][:_MOST_NUMBERS]:
        sides = _sides(interp, frame, state, tests, target, number)
        others = [side for side, *had in zip(sides, *before, strict=True) if side is not None and {*had} == {not side}]
        if others:
            found.append((len(others), number))
    if not found:
        return items
    number = min(found)[1]
    last = _renumbered(items.items[-1], number) if more is None else more[number]
    return replace(items, items=(*items.items[:-1], last))


def _renumbered(item: Value, number: int) -> Value:
    return Tuple((Const(number), *item.items[1:])) if type(item) is Tuple else Const(number)


def _number(item: Value) -> int | None:
    """Return the number of a turn: of `range` the item, of `enumerate` the first part of it; None for others."""
    first = item.items[0] if type(item) is Tuple and item.items else item
    return first.value if type(first) is Const and type(first.value) is int else None


def _tests(body: Sequence[ir.Stmt], name: str) -> list[ir.Expr]:
    """Return the conditions on a number whose sides may write; none where the number is an index as well."""
    found: list[ir.Expr] = []
    for part in walk(tuple(body)):
        if isinstance(part, ir.Subscript) and _mentions(part.key, name):
            return []
        if isinstance(part, ir.If) and _mentions(part.test, name) and lowered_may_write((*part.body, *part.orelse)):
            found.extend(() if any(isinstance(inner, ir.Call) for inner in walk((part.test,))) else (part.test,))
    return found


def _mentions(expr: ir.Expr, name: str) -> bool:
    return any(isinstance(part, ir.Name) and part.id == name for part in walk((expr,)))


def _candidates(
    interp: Interpreter, frame: Frame, state: State, tests: Sequence[ir.Expr], name: str, last: int
) -> list[int]:
    """Return the numbers next to those that a number is compared with, or divided by."""
    near: set[int] = set()
    for part in (part for test in tests for part in _bounds(test)):
        if _mentions(part, name):
            continue
        for _, value in interp.evaluate(frame, state.fork(), part):
            if type(value) is Const and type(value.value) is int:
                near.update((value.value - 1, value.value, value.value + 1))
    return sorted(number for number in near if number > last)


def _bounds(test: ir.Expr) -> Iterator[ir.Expr]:
    for part in walk((test,)):
        if isinstance(part, ir.Compare):
            yield from (part.left, *part.rights)
        elif isinstance(part, ir.Binary) and part.op == "%":
            yield part.right


def _sides(
    interp: Interpreter, frame: Frame, state: State, tests: Sequence[ir.Expr], target: ir.Name, number: int
) -> list[bool | None]:
    """Return which side of each condition a turn with a number takes; None where that is not known."""
    path = state.fork()
    interp.assign(frame, path, target, Const(number))
    found: list[bool | None] = []
    for test in tests:
        values = interp.condition(frame, path.fork(), test)
        found.append(path_condition.truth(*values[0]) if len(values) == 1 else None)
    return found
