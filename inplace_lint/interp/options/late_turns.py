"""
Chooses the number of a turn of what turns more often than it is run: of a loop, or of a method that training calls.

    for turn, (x, y) in enumerate(loader):
        if (turn + 1) % 20 == 0:            # in none of the first turns: the last one gets the number 19
            optimizer.step()

    def update(self, batch):
        self.updates += 1
        if self.updates % 2 == 0:           # not in the first call: it is taken to be the second one
            self.actor_optimizer.step()

The other turns keep their numbers, so that what they leave behind meets what only a later one does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Closure, Const, Ref, Tuple, Value
from inplace_lint.effects.write_evidence import lowered_may_write
from inplace_lint.interp.call import module_containers
from inplace_lint.interp.control import path_condition
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.fuel import EXACT_TURNS
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import sides
from inplace_lint.interp.outcome import Items
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.scopes import names_of
from inplace_lint.ir.walk import walk

FILLS = sides.PUTS | {"add"}
_MOST_NUMBERS = 12

_Row = tuple[tuple[Value, ...], list[bool | None]]  # without its number, and with the sides that it takes


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
    more = {_number(item): item for item in iterable.items} if type(iterable) is Tuple and iterable.exact else None
    number = _late_number(interp, frame, state, tests, target, known, more)
    if number is None:
        return items
    last = _renumbered(items.items[-1], number) if more is None else more[number]
    return replace(items, items=(*items.items[:-1], last))


def without_similar(interp: Interpreter, frame: Frame, state: State, node: ir.For, items: Items) -> Items:
    """
    Return the rows of a loop, without similar ones: of a known number, which only conditions ask for, and a module.

        for place, block in enumerate(self.blocks):     # turns 0, 1, 2, 3 and 4 of twelve
            if place == self.joined_at:                 # which is 3
                x = torch.cat((token, x), 1)

    Two rows in turn stand for those after them that have similar modules and take the same sides.
    """
    target = node.target.items[0] if isinstance(node.target, ir.Sequence) and node.target.items else node.target
    parts = [row.items for row in items.items if type(row) is Tuple and row.items[1:] and _number(row) is not None]
    if not len(items.items) == len(parts) > EXACT_TURNS or not isinstance(target, ir.Name):
        return items
    tests = _only_tests(node.body, target.id)
    if tests is None:
        return items
    taken = [_sides(interp, frame, state, tests, target, _number(row) or 0) for row in items.items]
    rows = [(values[1:], sides) for values, sides in zip(parts, taken, strict=True)]
    kept = module_containers.shown(rows, partial(_are_similar, state))
    return replace(
        items, items=tuple(items.items[place] for place in kept), left_out=items.left_out + len(rows) - len(kept)
    )


def tells_apart(node: ir.For) -> bool:
    """Check whether a loop counts its turns for a condition, or compares its item: `layer is self.layers[-1]`."""
    parts = list(walk(node.body))
    counters = {_key(part.target) for part in parts if isinstance(part, ir.AugAssign)} - {""}
    tests = [part.test for part in parts if isinstance(part, ir.If | ir.IfExp)]
    names = names_of(node.target)
    return any(mentions(test, key) for key in counters for test in tests) or any(
        isinstance(side, ir.Name) and side.id in names
        for part in parts
        if isinstance(part, ir.Compare) and not any(isinstance(side, ir.Const) for side in part.rights)
        for side in (part.left, *part.rights)
    )


def _are_similar(state: State, one: _Row, other: _Row) -> bool:
    """Check whether two rows take the same sides, and what they have beside their numbers are similar modules."""
    return one[1] == other[1] and all(
        module_containers.alike(state, *pair) for pair in zip(one[0], other[0], strict=False)
    )


def _only_tests(body: Sequence[ir.Stmt], key: str) -> list[ir.Expr] | None:
    """Return the conditions on a number; None where anything else reads it, or statements fill lists."""
    parts = list(walk(tuple(body)))
    tests = [part.test for part in parts if isinstance(part, ir.If | ir.IfExp) and mentions(part.test, key)]
    asked = {id(part) for test in tests for part in walk((test,))}
    called = [part.func for part in parts if isinstance(part, ir.Call)]
    fills = any(isinstance(func, ir.Attr) and func.name in FILLS for func in called)
    read = any(isinstance(part, ir.Name) and part.id == key and id(part) not in asked for part in parts)
    return None if fills or read else tests


def may_turn_more(state: State, iterable: Value, items: Items) -> bool:
    """Check whether a loop may turn more often than it is run: the items are not all, or the iterable is not known."""
    known = type(iterable) is Tuple or isinstance(state.object(state.contents(iterable)), ListObject | DictObject)
    return len(items.items) > 1 and not (items.exact and known)


def count_on_all(
    interp: Interpreter, frame: Frame, paths: Sequence[State], body: Sequence[ir.Stmt], goes_on: ir.Expr | None = None
) -> None:
    """Let the counters and lists that statements add to count on, on each path, as long as the loop `goes_on`."""
    for path in paths:
        _count_on(interp, frame, path, body, goes_on)
        _fill_on(interp, frame, path, body)


def of_calls(interp: Interpreter, frame: Frame, state: State, method: Closure, receiver: Value) -> list[State]:
    """Return the states that a method is run on: where it adds to counters of its object, as after calls of it, too."""
    function, instance = method.function, state.instance(receiver)
    if not function.params or instance is None or not isinstance(receiver, Ref):
        return [state]
    path = state.fork()
    interp.assign(frame, path, ir.Name(0, function.params[0].name), receiver)
    _count_on(interp, frame, path, function.body, turned=False)
    after = path.instance(receiver)
    if after is None or after.attrs == instance.attrs:
        return [state]
    later = state.fork()
    later.put(receiver, replace(instance, attrs=after.attrs))
    return [state, later]


def _count_on(
    interp: Interpreter,
    frame: Frame,
    state: State,
    body: Sequence[ir.Stmt],
    goes_on: ir.Expr | None = None,
    *,
    turned: bool = True,
) -> None:
    for counter in (part for part in walk(tuple(body)) if isinstance(part, ir.AugAssign) and part.op == "+"):
        if not isinstance(counter.value, ir.Const) or type(counter.value.value) is not int or not _key(counter.target):
            continue
        step, values = counter.value.value, interp.evaluate(frame, state.fork(), counter.target)
        now = _number(values[0][1]) if len(values) == 1 else None
        tests = _tests(body, _key(counter.target), also_taken=not turned)
        if now is None or step <= 0 or not tests:
            continue
        read = now + step if _is_before(counter, body, tests) else now
        late = _late_number(interp, frame, state, tests, counter.target, [read - step, read] if turned else [read])
        if late is None:
            continue
        path, start = state.fork(), now + late - read
        interp.assign(frame, path, counter.target, Const(start))
        if goes_on is None or _sides(interp, frame, path, [goes_on], counter.target, start) != [False]:
            interp.assign(frame, state, counter.target, Const(start))


def _late_number(
    interp: Interpreter,
    frame: Frame,
    state: State,
    tests: Sequence[ir.Expr],
    target: ir.Expr,
    known: Sequence[int],
    among: Collection[int | None] | None = None,
) -> int | None:
    """Return a number at which a side is taken that is taken at none of the known ones; of several the plainest."""
    if not tests:
        return None
    late = _candidates(interp, frame, state, tests, _key(target), known[-1])
    before = [_sides(interp, frame, state, tests, target, number) for number in known]
    found: list[tuple[int, int]] = []
    for number in [one for one in late if among is None or one in among][:_MOST_NUMBERS]:
        taken = _sides(interp, frame, state, tests, target, number)
        others = [side for side, *had in zip(taken, *before, strict=True) if side is not None and {*had} == {not side}]
        if others:
            found.append((len(others), number))
    return min(found)[1] if found else None


def _number(item: Value) -> int | None:
    """Return the number of a turn: of `range` the item, of `enumerate` the first part of it; None for others."""
    first = item.items[0] if type(item) is Tuple and item.items else item
    return first.value if type(first) is Const and type(first.value) is int else None


def _renumbered(item: Value, number: int) -> Value:
    return Tuple((Const(number), *item.items[1:])) if type(item) is Tuple else Const(number)


def _tests(body: Sequence[ir.Stmt], key: str, *, also_taken: bool = True) -> list[ir.Expr]:
    """
    Return the conditions on a number whose sides may write; none where the number is an index as well.

    Unless it is `also_taken`, only one of the sides may write: the other turns are not run.
    """
    found: list[ir.Expr] = []
    for part in walk(tuple(body)):
        if isinstance(part, ir.Subscript) and mentions(part.key, key):
            return []
        if isinstance(part, ir.If) and mentions(part.test, key) and not _calls(part.test):
            writes = _writing_sides(part, body)
            found.extend([part.test] if (any(writes) if also_taken else writes.count(True) == 1) else ())
    return found


def _writing_sides(node: ir.If, body: Sequence[ir.Stmt]) -> list[bool]:
    """Return which sides of a condition in statements may write; where one leaves, the other goes on to the rest."""
    blocks = ((node.body, node.orelse), (node.orelse, node.body))
    return [lowered_may_write(one) or (sides.leaves(other) and lowered_may_write(tuple(body))) for one, other in blocks]


def _fill_on(interp: Interpreter, frame: Frame, state: State, body: Sequence[ir.Stmt]) -> None:
    """Make the length of lists unknown that statements fill, where a condition on it keeps them from what writes."""
    parts = list(walk(tuple(body)))
    calls = [part.func for part in parts if isinstance(part, ir.Call) and isinstance(part.func, ir.Attr)]
    lists = {_key(func.value): func.value for func in calls if func.name in FILLS and _key(func.value)}
    if not lists:
        return
    for node in (part for part in parts if isinstance(part, ir.If)):
        for expr in (whole for key, whole in lists.items() if mentions(node.test, key)):
            values = interp.evaluate(frame, state.fork(), expr)
            tested = interp.condition(frame, state.fork(), node.test)
            inner = state.object(values[0][1]) if len(values) == 1 else None
            side = path_condition.truth(*tested[0]) if len(tested) == 1 else None
            is_left_out = side is not None and _writing_sides(node, body)[side]
            if is_left_out and isinstance(inner, ListObject) and isinstance(values[0][1], Ref):
                state.put(values[0][1], replace(inner, exact=False))


def _calls(expr: ir.Expr) -> bool:
    return any(isinstance(part, ir.Call) for part in walk((expr,)))


def _key(expr: ir.Expr) -> str:
    """Return how a variable or an attribute of one is written; empty for others."""
    match expr:
        case ir.Name(_, name):
            return name
        case ir.Attr(_, value, name) if inner := _key(value):
            return f"{inner}.{name}"
        case _:
            return ""


def mentions(expr: ir.Expr, key: str) -> bool:
    """Check whether an expression reads a variable, or an attribute of one, as it is written."""
    return any(isinstance(part, ir.Name | ir.Attr) and _key(part) == key for part in walk((expr,)))


def _is_before(counter: ir.AugAssign, body: Sequence[ir.Stmt], tests: Sequence[ir.Expr]) -> bool:
    """Check whether a counter is increased before its conditions are read."""
    own = [part.at for part in walk(tuple(body)) if isinstance(part, ir.If) and part.test in tests]
    return all(counter.at < at for at in own)


def _candidates(
    interp: Interpreter, frame: Frame, state: State, tests: Sequence[ir.Expr], key: str, last: int
) -> list[int]:
    """Return the numbers next to those that a number is compared with, or divided by."""
    near: set[int] = set()
    for part in (part for test in tests for part in _bounds(test) if not mentions(part, key)):
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
    interp: Interpreter, frame: Frame, state: State, tests: Sequence[ir.Expr], target: ir.Expr, number: int
) -> list[bool | None]:
    """Return which side of each condition a turn with a number takes; None where that is not known."""
    path = state.fork()
    interp.assign(frame, path, target, Const(number))
    found: list[bool | None] = []
    for test in tests:
        values = interp.condition(frame, path.fork(), test)
        found.append(path_condition.truth(*values[0]) if len(values) == 1 else None)
    return found
