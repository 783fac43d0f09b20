"""Python's builtin functions that go over items: `range`, `enumerate`, `zip`, `reversed`, `map`, `filter`, `sum`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inplace_lint.domain import origins
from inplace_lint.domain.heap import ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Builtin, Const, Dotted, RefId, Sym, Tuple, Value
from inplace_lint.interp.control import generators, iteration, path_condition
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.fuel import UNKNOWN_TURNS
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Items, Raised, Results, taken
from inplace_lint.interp.pylib import constant_folding
from inplace_lint.interp.pylib.request import Request
from inplace_lint.interp.transfer import materialise, no_gradient

_LONGEST = 256
_MOST_COMPARED = 16


def of_range(request: Request) -> Results:
    """Return the numbers of a range; of an unknown one the first. What it is made of is whole: it has no gradient."""
    values = request.arguments.positional
    for value in values:
        if type(value) is not Const:
            no_gradient.mark(request.state, value)
    numbers = [value.value for value in values if isinstance(value, Const) and isinstance(value.value, int)]
    if len(numbers) == len(values) and values and (len(numbers) < 3 or numbers[2] != 0):  # noqa: PLR2004 - a step
        span = range(*numbers)
        if len(span) <= _LONGEST:
            return [(request.state, Tuple(tuple(Const(number) for number in span)))]
    return _firstturns(request, values)


def _firstturns(request: Request, values: Sequence[Value]) -> Results:
    """Return the first numbers of a range of unknown length, as many as a loop over an unknown iterable has turns."""
    start = values[0] if len(values) > 1 else Const(0)
    step = values[2] if len(values) > 2 else Const(1)  # noqa: PLR2004 - start, stop, step
    if not (isinstance(start, Const) and isinstance(step, Const)):
        return request.unknown("sequence")
    if not (isinstance(start.value, int) and isinstance(step.value, int) and len(values) <= 3):  # noqa: PLR2004
        return request.unknown("sequence")
    numbers = (Const(start.value + turn * step.value) for turn in range(UNKNOWN_TURNS))
    return [(request.state, Tuple(tuple(numbers), exact=False))]


def of_enumerate(request: Request) -> Results:
    """Return the items with their numbers."""
    found = turns(request, request.argument(0))
    start = request.argument(1) or request.arguments.named("start")
    first = start.value if isinstance(start, Const) and isinstance(start.value, int) else 0
    pairs = tuple(Tuple((Const(first + position), item)) for position, item in enumerate(found.items))
    return [(request.state, Tuple(pairs, found.exact))]


def turns(request: Request, value: Value | None, *, loops: bool = False) -> Items:
    """Return the items of an iterable; of an unknown one as many as a loop has turns, and no more if it `loops`."""
    if value is None:
        return Items((), exact=True)
    found = request.items(value)
    if found.items:
        return found
    expr = request.arguments.exprs.get(0)
    return request.interp.turns(request.frame, request.state, value, expr, request.at, loops=loops)


def of_zip(request: Request) -> Results:
    """
    Return the rows of several columns; one that is known to the end ends those of which more is known.

    With `strict` columns of different lengths raise, where somebody waits for that: before the rows, not after them.
    """
    columns = [turns(request, value) for value in request.arguments.positional]
    lengths = {len(column.items) for column in columns if column.exact}
    if request.interp.fuel.listens and len(lengths) > 1 and request.arguments.named("strict") == Const(True):
        return request.interp.fuel.leave(request.state, Raised(Builtin("ValueError"), request.frame.site(request.at)))
    placed = [
        iteration.by_place(request.state, *one) for one in zip(request.arguments.positional, columns, strict=True)
    ]
    common = [place for place in (placed[0][0] if placed else ()) if all(place in items for items, _ in placed)]
    rows = tuple(Tuple(tuple([items[place] for items, _ in placed])) for place in common)
    exact = all(column.exact or len(column.items) > len(rows) for column in columns)
    return [(request.state, Tuple(rows, exact and all(first for _, first in placed)))]


def of_reversed(request: Request) -> Results:
    """Return the items from the last to the first."""
    found = request.items(request.argument(0))
    if not found.items:
        return request.unknown("sequence")
    return [(request.state, Tuple(found.items[::-1], found.exact))]


def _each(
    interp: Interpreter, frame: Frame, state: State, function: Value, rows: Iterable[tuple[Value, ...]], at: int
) -> list[tuple[State, tuple[Value, ...]]]:
    """Return what a function returns for each row of arguments, on each path."""
    going: list[tuple[State, tuple[Value, ...]]] = [(state, ())]
    number = RefId(state.fresh())
    for row in rows:
        going = [
            (after, (*done, value))
            for before, done in going
            for after, value in interp.call(frame, before, function, Arguments(row), at)
        ]
        for after, _ in going:
            generators.note_yield(after, number)
    return going


def orders(
    interp: Interpreter, frame: Frame, state: State, items: Sequence[Value], arguments: Arguments, at: int
) -> list[tuple[State, list[int] | None]]:
    """Return the places of items in the order in which a call with `key` and `reverse` sorts them; None if unknown."""
    key, reverse = arguments.named("key") or NONE, arguments.named("reverse")
    backward = False if reverse is None else path_condition.truth(state, reverse)
    going = [(state, tuple(items))] if key == NONE else _each(interp, frame, state, key, zip(items), at)
    return [
        (after, None if backward is None else _order(interp, frame, after, keys, at, backward)) for after, keys in going
    ]


def _order(
    interp: Interpreter, frame: Frame, state: State, keys: Sequence[Value], at: int, backward: bool
) -> list[int] | None:
    """Return the places of keys in their order; objects of the program are compared by their own `__lt__`."""
    if len(keys) > _MOST_COMPARED or not all(state.instance(key) is not None for key in keys):
        return constant_folding.order(state, keys, reverse=backward)
    places: list[int] = []
    for place, key in enumerate(keys):
        until = len(places)
        while until:
            pair = (keys[places[until - 1]], key) if backward else (key, keys[places[until - 1]])
            is_less = taken(state, interp.special_method(frame, state, pair[0], "__lt__", pair[1:], at) or [])
            side = None if is_less is None else path_condition.truth(state, is_less)
            if side is None:
                return None
            if not side:
                break
            until -= 1
        places.insert(until, place)
    return places


def of_sorted(request: Request) -> Results:
    """Return the list of items in order; where that is not known, as they come."""
    found = turns(request, request.argument(0))
    results: Results = []
    for after, order in orders(
        request.interp, request.frame, request.state, found.items, request.arguments, request.at
    ):
        items = found.items if order is None else tuple(found.items[place] for place in order)
        results.append((after, after.new(ListObject(items, found.exact))))
    return results


def of_extreme(request: Request) -> Results:
    """Return the least or the greatest of several items, the first of equal ones."""
    given, arguments = request.arguments.positional, request.arguments
    kind = "number" if arguments.named("key") is None else ""
    found = Items(given, exact=True) if len(given) > 1 else request.items(request.argument(0))
    if not found.exact or arguments.unknown or any(request.state.ref(item) for item in found.items):
        return request.unknown(kind)
    if not found.items:
        return [(request.state, arguments.named("default") or NONE)]
    least = request.function.name == "min"
    asked = Arguments((), (*[pair for pair in arguments.keywords if pair[0] == "key"], ("reverse", Const(not least))))
    unknown = (origins.BUILTIN, request.function.name, request.function.receiver, given)
    return [
        (after, found.items[order[0]] if order else after.symbols.sym(unknown, kind))
        for after, order in orders(request.interp, request.frame, request.state, found.items, asked, request.at)
    ]


def of_map(request: Request) -> Results:
    """Return what a function returns for each item, or row of items; nothing is called where nothing asks for these."""
    if generators.is_unused(request.interp, request.frame, request.at):
        return [(request.state, Tuple(()))]
    function = request.argument(0)
    columns = [turns(request, value) for value in request.arguments.positional[1:]]
    if function is None:
        return []
    rows = zip(*(column.items for column in columns), strict=False)
    going = _each(request.interp, request.frame, request.state, function, rows, request.at)
    return [(after, Tuple(done, all(column.exact for column in columns))) for after, done in going]


def of_filter(request: Request) -> Results:
    """
    Return the items for which a function returns a true value; those that are true if it is None.

    `filterfalse` and `dropwhile` leave these out; `takewhile` and `dropwhile` ask until the first that is not.
    """
    function, found = request.argument(0), turns(request, request.argument(1))
    name = request.function.name
    going: list[tuple[State, tuple[Value, ...], bool | None]] = [(request.state, (), None)]
    for item in found.items:
        before, going = going, []
        for state, kept, rest in before:
            if rest is not None:
                going.append((state, (*kept, item) if rest else kept, rest))
                continue
            for asked, verdict in _verdicts(request, state, function, item):
                for after, side in path_condition.split(request.interp.fuel, asked, verdict):
                    then = None if side or name not in _UNTIL else name == _DROP
                    going.append((after, (*kept, item) if side is not (name in _LEAVE_OUT) else kept, then))
    return [(after, Tuple(kept, found.exact or rest is False)) for after, kept, rest in going]


_TAKE, _DROP = "itertools.takewhile", "itertools.dropwhile"
_UNTIL, _LEAVE_OUT = frozenset({_TAKE, _DROP}), frozenset({_DROP, "itertools.filterfalse"})
FILTERS = frozenset({"filter"}) | _UNTIL | _LEAVE_OUT


def of_starmap(request: Request) -> Results:
    """Return what a function returns for each row of arguments."""
    function, found = request.argument(0), turns(request, request.argument(1))
    rows = [tuple(request.items(row).items) for row in found.items]
    if function is None or not all(request.items(row).exact for row in found.items):
        return request.unknown("sequence")
    going = _each(request.interp, request.frame, request.state, function, rows, request.at)
    return [(after, Tuple(done, found.exact)) for after, done in going]


def _verdicts(request: Request, state: State, function: Value | None, item: Value) -> Results:
    if function is None or function == NONE:
        return [(state, item)]
    return request.interp.call(request.frame, state, function, Arguments((item,)), request.at)


def of_sum(request: Request) -> Results:
    """Return the sum of items, which may be tensors; of lists, where it starts with one: `sum(stages, [])`."""
    found = turns(request, request.argument(0))
    start = request.argument(1) or request.arguments.named("start")
    total: Value = start if start is not None else Const(0)
    state = request.state
    if isinstance(state.object(total), ListObject):
        lists = [state.object(value) for value in (total, *found.items)]
        known = [one for one in lists if isinstance(one, ListObject)]
        exact = found.exact and len(known) == len(lists) and all(one.exact for one in known)
        return [(state, state.new(ListObject(tuple(item for one in known for item in one.items), exact)))]
    numbers = constant_folding.function(state, "sum", (Tuple(found.items, found.exact), total), ())
    if numbers is not None:
        return [(state, numbers)]
    for item in found.items:
        facts = materialise.framework_of(request.interp, state, item)
        if facts is None:
            return request.unknown("number" if not isinstance(item, Sym) or item.kind == "number" else "")
        other = materialise.framework_of(request.interp, state, total)
        method = "__add__" if other is not None else "__radd__"
        pair = (total, item) if other is not None else (item, total)
        name = Dotted(f"{facts.framework.tensor}.{method}")
        results = request.interp.call(request.frame, state, name, Arguments(pair), request.at)
        state, total = results[0]
    return [(state, total)]


def is_at_end(state: State, value: Value | None) -> bool:
    """Check whether an iterator has certainly no further item."""
    inner = None if value is None else state.object(value)
    return isinstance(inner, ListObject) and inner.exact and not inner.items


def error_of(request: Request) -> Builtin | None:
    """Return the exception that a builtin certainly raises for what is known of its arguments; None if it may not."""
    name, given = request.function.name, request.arguments.positional
    if name == "next" and len(given) == 1:
        return Builtin("StopIteration") if is_at_end(request.state, given[0]) else None
    return constant_folding.error_of(request.state, name, given, request.arguments.keywords)
