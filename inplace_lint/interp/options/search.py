"""
Option search: on which other arguments an entry point is run again, to take sides of conditions that no path took.

    def __init__(self, mode="bilinear", residual=False):
        self.mode, self.residual = mode, residual

    def forward(self, x):
        if self.mode == "deconv" and self.residual:     # two runs: with mode="deconv", then with residual=True, too
            x.add_(1)

Worth a run are sides that may write, sides that go on to what may write where the other one leaves, sides that set
what the conditions of these read, and sides of constructors that make what writes may meet. Values carry the options
that they come from (`Const.source`), so that it does not matter on which way an option reaches its condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from inplace_lint.core.span import Slice
from inplace_lint.domain import origins
from inplace_lint.domain.values import NONE, SymId, Value
from inplace_lint.effects import schedule
from inplace_lint.effects.may_write import set_up_methods
from inplace_lint.effects.reachability import reachable
from inplace_lint.effects.summary import Definition
from inplace_lint.effects.write_evidence import lowered_may_write
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import solver
from inplace_lint.interp.options.coverage import Choice, Coverage, Missed, number
from inplace_lint.interp.options.may_save import Key
from inplace_lint.interp.options.sides import (
    NOTHING_MET,
    Sides,
    Use,
    makes_parameters,
    makes_writer,
    met_in,
    sides_in,
    written_attributes,
)
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

_ABOUT_ONE = {(origins.NOT,), (origins.IS_NONE,)}
_Options = frozenset[tuple[SymId, Value]]
Goal = tuple[Key, SymId | None] | tuple[Key, _Options] | _Options
_Found = Iterator[tuple[Key, int, frozenset[str]]]


def next_choice(interp: Interpreter, item: Definition, tried: set[Goal], *, cheap: bool) -> Choice | None:
    """
    Return what leads to the first side that is worth a run of an entry point and was not tried; None if none is.

    What only leads to other sides of unknown conditions, or to none that may write, is worth a `cheap` run only.
    """
    if item.kind == "function" and interp.context.main.users_of(item.name):
        return None  # the file itself chooses its arguments
    coverage = interp.context.coverage
    missed = _missed(interp, item, tried)
    if all(side.condition is None for side in missed.values()):
        missed = {}
    for key in _worth_a_run(interp, item, missed, cheap=cheap):
        choice = solver.solve(coverage, interp.context.symbols, missed[key])
        if choice is None:
            continue
        if cheap or _passes_more(interp, choice, missed[key]):
            coverage.outside = coverage.outer.get(key)
            # The run may come as far as another condition of this side.
            tried.update(((key, coverage.missed.pop(key).condition), frozenset(choice.options)))
            return choice
    return _together(interp, item, tried) if cheap else None


def choice_towards(interp: Interpreter, item: Definition, names: frozenset[str], tried: set[Goal]) -> Choice | None:
    """
    Return what leads to a side of a constructor that names one of some classes; None if nothing does.

    norm = ScaleNorm if scale_norm else nn.LayerNorm        # with scale_norm=True
    """
    coverage = interp.context.coverage
    missed = {key: side for key, side in _missed(interp, item, tried).items() if _constructs(item, side)}
    functions = {id(side.function): side.function for side in missed.values()}
    for function in functions.values():
        for (node, side), use, _ in sides_in(function.body, names, NOTHING_MET, goes_on=False):
            key = (number(item.slice, function.slice.path, node), side)
            choice = None
            if key in missed and use in {Use.WRITE, Use.LEAD}:
                choice = solver.solve(coverage, interp.context.symbols, missed[key])
            if choice is not None:
                tried.add((key, missed[key].condition))
                return choice
    return None


def choice_of_write(interp: Interpreter, item: Definition, tried: set[Goal]) -> Choice | None:
    """
    Return what leads to a side that writes, in what calls of the objects of a class run; None if nothing does.

    if self.scaled: y *= self.gain                          # with scaled=True
    if self.norm is not None: y[...] = self.norm(y)         # with what the constructor sets `self.norm` for
    """
    missed = _missed(interp, item, tried)
    open_to = item.methods if _goes_nowhere(interp, item) else [one for one in item.methods if one.writes]
    own = {method.slice for method in open_to if method.name not in set_up_methods(item)}
    sides = {key: side for key, side in missed.items() if side.function.slice in own}
    needed = (key for key in missed if key in interp.context.coverage.needed)
    goals = [*needed, *_worth_a_run(interp, item, sides, cheap=False)]
    read = frozenset(name for key in goals for name in _named(missed[key]))
    for key in (*goals, *_setting(interp, item, missed, read)):
        choice = solver.solve(interp.context.coverage, interp.context.symbols, missed[key])
        if choice is not None and _passes_more(interp, choice, missed[key]):
            tried.add((key, missed[key].condition))
            return choice
    return None


def _setting(interp: Interpreter, item: Definition, missed: Mapping[Key, Missed], names: frozenset[str]) -> list[Key]:
    """Return the sides of a constructor that set one of some attributes."""
    functions = {id(side.function): side.function for side in missed.values() if _constructs(item, side)}
    found = (part for one in functions.values() for part in _of_function(interp, item, one))
    return [key for key, _, sets in found if key in missed and not names.isdisjoint(sets)]


def _missed(interp: Interpreter, item: Definition, tried: set[Goal]) -> dict[Key, Missed]:
    coverage = interp.context.coverage
    return {
        key: side
        for key, side in coverage.missed.items()
        if side.root == item.slice and key not in coverage.taken and (key, side.condition) not in tried
    }


def _together(interp: Interpreter, item: Definition, tried: set[Goal]) -> Choice | None:
    """
    Return what leads to a side that a run on a choice missed, on top of that choice.

    On the same options only a side that may write itself, or leads to what does, is worth a run.
    """
    coverage = interp.context.coverage
    missed = {key: side for key, side in coverage.under_choice.items() if side.root == item.slice}
    writing = frozenset(_worth_a_run(interp, item, missed, cheap=False))
    for key in dict.fromkeys(_worth_a_run(interp, item, missed, cheap=True)):
        choice = solver.solve(coverage, interp.context.symbols, coverage.under_choice.pop(key))
        if choice is None:
            continue
        options = frozenset(choice.options)
        goal: Goal = (key, options) if options in tried and key in writing else options
        if goal not in tried:
            coverage.outside = None
            tried.update((options, goal))
            return choice
    return None


def left_over(interp: Interpreter, item: Definition, repeated: Collection[Slice]) -> list[ir.Function]:
    """
    Return the methods of a class in which outer entry points missed sides that they are not run again for.

    These depend on none of their options, or were missed by one that is not among those that may be `repeated`.
    """
    coverage, own = interp.context.coverage, {method.slice for method in item.methods}
    missed = {
        key: side
        for key, side in coverage.missed.items()
        if key not in coverage.taken and side.function.slice in own
        if side.condition is None or (side.root != item.slice and side.root not in repeated)
    }
    found = {id(missed[key].function): missed[key].function for key in _worth_a_run(interp, item, missed, cheap=False)}
    return list(found.values())


def _passes_more(interp: Interpreter, choice: Choice, side: Missed) -> bool:
    """Return whether a choice is of other arguments than those with which a side was missed, sure to lead there."""
    return choice.options != side.choice.options or _is_passed(interp, side.condition)


def _is_passed(interp: Interpreter, condition: SymId | None) -> bool:
    """Return whether a condition asks only for a parameter to be passed that is None by default."""
    options, keys = interp.context.coverage.options, interp.context.symbols.keys
    is_asked = False
    while condition is not None:
        option, key = options.get(condition), keys[condition]
        if option is not None:
            return option.value == NONE or (is_asked and option.optional)
        is_asked = True
        condition = SymId(key[1]) if isinstance(key, tuple) and key[:1] in _ABOUT_ONE else None
    return False


def _worth_a_run(interp: Interpreter, item: Definition, missed: Mapping[Key, Missed], *, cheap: bool) -> Iterator[Key]:
    """Return the sides that may lead to a write, those that set an attribute that decides about these, then others."""
    if not missed:
        return
    coverage = interp.context.coverage
    functions = {id(side.function): side.function for side in missed.values()}
    written = written_attributes(interp.context.code(method.slice).body for method in item.methods if method.writes)
    known = {
        key: (use if sets.isdisjoint(written) or not _constructs(item, missed[key]) else Use.WRITE, sets)
        for function in functions.values()
        for key, use, sets in _of_function(interp, item, function)
        if key in missed and (use is not Use.MAKE or _constructs(item, missed[key]))
        if missed[key].function.slice.path == item.slice.path
        or (use >= Use.LEAD and key not in coverage.elsewhere)
        or not sets.isdisjoint(schedule.written_with(item))
    }
    if item.slice in coverage.assuming or not coverage.elsewhere.isdisjoint(missed):
        known.update((key, (Use.WRITE, frozenset[str]())) for key in _elsewhere(coverage, item, missed))
    known.update((key, (Use.WRITE, frozenset())) for key in missed if key in coverage.refused)
    for key in _leading_on(interp, item, missed):
        use, sets = known.get(key, (Use.LEAD, frozenset[str]()))
        known[key] = (max(Use.LEAD, use), sets)
    computed = any(missed[key].condition is None and use is not Use.NOTHING for key, (use, _) in known.items())
    for key, side in missed.items():
        if key in coverage.elsewhere and item.slice not in coverage.assuming:
            continue
        if _is_rate(side) or (side.test is None and (item.kind == "class" or _constructs(item, side))):
            known[key] = (Use.MAKE if side.side else Use.WRITE, frozenset())
        elif computed and _is_replaced(item, side) and _is_passed(interp, side.condition):
            use, sets = known.get(key, (Use.CHANGE, frozenset[str]()))
            known[key] = (max(Use.CHANGE, use), sets)
    for wanted in (Use.WRITE, Use.LEAD, Use.CHANGE, Use.MAKE) if cheap else (Use.WRITE, Use.LEAD):
        # A call is sure to write at another rate; what the other sides lead to is not known.
        goals = sorted(
            (key for key, (use, _) in known.items() if use is wanted), key=lambda key: not _is_rate(missed[key])
        )
        yield from goals
        read = {name for key in goals for name in _named(missed[key])}
        yield from (key for key, (use, sets) in known.items() if use < wanted and not read.isdisjoint(sets))


def _leading_on(interp: Interpreter, item: Definition, missed: Mapping[Key, Missed]) -> list[Key]:
    """Return the sides that may save what is written, and all on which an option decides where a call ends nowhere."""
    nowhere, saving = _goes_nowhere(interp, item), interp.context.coverage.saving
    return [key for key, side in missed.items() if key in saving or (nowhere and side.condition is not None)]


def _goes_nowhere(interp: Interpreter, item: Definition) -> bool:
    """
    Check whether a call of a class leads to a write, and comes to its end on no path so far.

    def forward(self, x, edges=None):
        if self.on_the_fly:             # whoever passes no edges, passes `on_the_fly=True` to the constructor
            edges = edges_of(x)
        y = x[edges.flatten()]
    """
    return schedule.is_unreached(item, interp.fuel.returned, interp.context.default().framework.calls)


def _is_rate(side: Missed) -> bool:
    """Return whether a side is that of a call which writes nothing at the rate that it has."""
    return side.test is None and not side.side


def _is_replaced(item: Definition, side: Missed) -> bool:
    """Return whether a side was missed in a function or an `or` that may give another value for the one it asks for."""
    is_helper = "." not in side.function.qualname and side.function.qualname != item.name
    return is_helper or isinstance(side.test, ir.BoolOp)


def _elsewhere(coverage: Coverage, item: Definition, missed: Mapping[Key, Missed]) -> Iterator[Key]:
    """Return the sides that make what writes in another file, or parameters where a gradient is assumed."""
    for key, side in missed.items():
        parts = (part for part in walk(side.function.body) if isinstance(part, ir.If) and part.test is side.test)
        block = [one for part in parts for one in (part.body if side.side else part.orelse)]
        trains = item.slice in coverage.assuming and makes_parameters(block, coverage.making)
        path = side.function.slice.path
        if trains or (key in coverage.elsewhere and makes_writer(block, partial(coverage.writes, path))):
            yield key


def _constructs(item: Definition, side: Missed) -> bool:
    """Return whether a side was missed while an object was constructed."""
    return (item.kind == "class" and not side.method) or side.function.qualname.rpartition(".")[2] == "__init__"


def _of_function(interp: Interpreter, item: Definition, function: ir.Function) -> _Found:
    """Return the sides of conditions in a function; they are searched for once."""
    known = interp.context.coverage.worth
    key = (item.slice, id(function))
    if key not in known:
        owner = _owner(interp, function) or item
        leading = _leading(interp, item) | (frozenset() if owner is item else _leading(interp, owner))
        met = met_in(function.body) if lowered_may_write(function.body) else NOTHING_MET
        flag = interp.context.default().framework.requires_grad
        sides = tuple(sides_in(function.body, leading, met, goes_on=False))
        known[key] = tuple(
            ((number(item.slice, function.slice.path, node), side), use, sets)
            for (node, side), use, sets in (*sides, *_trained(sides, flag))
        )
    return iter(known[key])


def _trained(sides: Sequence[tuple[tuple[int, bool], int, frozenset[str]]], flag: str) -> Sides:
    """Return the sides of conditions whose other sides alone say, by a flag, what is trained."""
    setting = {key: flag in sets or f"{flag}_" in sets for key, _, sets in sides}
    for (node, side), sets in setting.items():
        if not sets and setting.get((node, not side)):
            yield (node, side), Use.CHANGE, frozenset()


def _named(side: Missed) -> Iterator[str]:
    """Return the attributes that a condition names, those in strings included."""
    for part in walk(() if side.test is None else (side.test,)):
        match part:
            case ir.Attr(_, _, name) | ir.Const(str() as name):
                yield name
            case _:
                pass


def _owner(interp: Interpreter, function: ir.Function) -> Definition | None:
    """Return the class of the file that a function is a method of; None if there is none."""
    items = (one for one in interp.context.outline.items if one.kind == "class")
    return next((one for one in items if any(method.slice == function.slice for method in one.methods)), None)


def _leading(interp: Interpreter, item: Definition) -> frozenset[str]:
    """Return the names of functions, classes and methods that lead to a write, as an entry point uses them."""
    file = interp.context.file_effects()
    names = {name for name in file.named if file.summary(name).calls is not None} | file.used
    names |= interp.context.coverage.uncalled
    setting_up = set_up_methods(item)
    making = (method.sets for method in item.methods if method.makes and method.name in setting_up)
    made = frozenset[str]().union(*making)  # one of these writes whenever it is called
    names |= made
    uses = {method.name: method.attributes for method in item.methods}
    names.update(
        method.name
        for method in item.methods
        if any(_may_write(other, made) and other.name in reachable({method.name}, uses) for other in item.methods)
    )
    return frozenset(names) - {item.name, "__init__"}


def _may_write(method: Definition, made: frozenset[str]) -> bool:
    """Return whether a method writes, or calls one of some attributes."""
    return method.writes or any(call.rpartition(".")[2] in made for call in method.calls if made)
