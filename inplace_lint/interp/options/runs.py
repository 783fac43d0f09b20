"""
Further runs of an entry point: on what `search` chose, and of an outer one on what leads to the same side.

    class Attention(nn.Module):
        def __init__(self, dim, kernel=False): ...          # run on kernel=True, that `q` requires grad is assumed
        def forward(self, q): ...

    class Net(nn.Module):
        def __init__(self, dim, kernel=False):              # run on kernel=True, it is certain
            self.to_q, self.attention = nn.Linear(dim, dim), Attention(dim, kernel)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from inplace_lint.core.span import Slice
from inplace_lint.effects import schedule
from inplace_lint.effects.may_write import set_up_methods
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.context import Context
from inplace_lint.interp.found import Found, is_opinion, named
from inplace_lint.interp.fuel import CALLS_IN_CHOICES, CALLS_IN_SIDES, CHEAP_CHOICES, CHOICES, CHOICES_OF_LARGE
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import construction, earlier_calls, given_modules, search, solver
from inplace_lint.interp.options.coverage import Choice
from inplace_lint.knowledge.words import PARAMETERS
from inplace_lint.workspace import call_graph
from inplace_lint.workspace.module_store import Project

_Run = Callable[[Definition], list[Found]]
_Works = Iterator[tuple[str, Callable[[], list[Found]]]]


def prepare(context: Context) -> None:
    """Tell the coverage of sides in other files what leads to a finding there."""
    context.coverage.making = context.default().last_words(PARAMETERS.__contains__)
    context.coverage.writes = partial(_writes, context.project)


def _writes(project: Project, path: str, name: str) -> bool:
    """Check whether a class of a file writes when it is called."""
    module = project.module(path)
    items = () if module is None else module.items(name)
    return any(item.kind == "class" and _writes_when_called(item) for item in items)


def is_pending(interp: Interpreter, item: Definition) -> bool:
    """Return whether a function or class is to be run by itself, after those that lead to it."""
    context, ran = interp.context, interp.fuel.returned
    call, bases = context.default().framework.calls, partial(call_graph.bases_of, context.project, context.main, item)
    is_left = schedule.pending(bases, item, ran, call)
    is_left = is_left or any(True for _ in schedule.callers_of_inherited(bases(), item, ran))
    is_left = is_left or schedule.makes_uncalled(context.file_effects(), item, ran, call)
    return is_left or construction.leaves_rates(interp, item) or earlier_calls.is_kept_out(interp, item)


def all_further(
    interp: Interpreter,
    order: schedule.Schedule,
    run: _Run,
    cost: Mapping[Definition, int],
    unreached: frozenset[str],
) -> _Works:
    """
    Yield what runs each entry point on further options, by how many calls of the framework it made at first.

    `unreached` are the classes whose call writes, and that no entry point further out called.
    """
    repeated = {item.slice for item, calls in cost.items() if calls <= CALLS_IN_CHOICES}
    interp.context.coverage.uncalled = _uncalled(interp)
    for item, calls in cost.items():
        yield item.name, partial(_further, interp, item, order, run, calls, repeated)
        if item.kind == "class" and calls > CALLS_IN_CHOICES:
            yield item.name, partial(_run_large, interp, item, run, unreached - {item.name})


def _uncalled(interp: Interpreter) -> frozenset[str]:
    """Return the classes of other files whose call writes, and that no entry point of this file called."""
    context, call = interp.context, interp.context.default().framework.calls
    found = ((name, context.project.module(path)) for path, name in context.file_effects().used_classes)
    return frozenset(
        name
        for name, module in found
        if module is not None
        if any(schedule.is_uncalled(item, interp.fuel.returned, call) for item in module.items(name))
    )


def _run_large(interp: Interpreter, item: Definition, run: _Run, unreached: frozenset[str]) -> list[Found]:
    """
    Run a class that makes many calls again, on what leads to a write.

    That is a side which writes itself, or which constructs something that writes and that was not reached. A run that
    shows what else is to be passed does not count, up to as many again.
    """
    found: list[Found] = []
    tried: set[search.Goal] = set()
    coverage, left = interp.context.coverage, CHOICES_OF_LARGE
    for _ in range(2 * CHOICES_OF_LARGE):
        if left == 0:
            break
        choice = search.choice_towards(interp, item, unreached, tried) if unreached else None
        choice = choice or search.choice_of_write(interp, item, tried)
        if choice is None:
            break
        coverage.choice, needed = choice, len(coverage.needed)
        interp.fuel.counters["choices"] += 1
        found.extend(named(interp, item, run(item)))
        left -= len(coverage.needed) == needed
    coverage.choice = Choice()
    return found


def _further(
    interp: Interpreter,
    item: Definition,
    order: schedule.Schedule,
    run: _Run,
    calls: int,
    repeated: set[Slice],
) -> list[Found]:
    found, counters = list[Found](), interp.fuel.counters
    before = counters["framework_calls"]
    functions = search.left_over(interp, item, repeated) if item.kind == "class" and calls <= CALLS_IN_SIDES else []
    if functions:
        interp.context.coverage.reopen(functions)
        found.extend(named(interp, item, run(item)))
        calls = counters["framework_calls"] - before
    more, ended = _run_choices(interp, item, order, run, calls)
    found.extend(more)
    if ended:
        repeated.discard(item.slice)
    for choice in given_modules.all_choices(interp, item):
        interp.context.coverage.choice = choice
        found.extend(named(interp, item, run(item)))
    interp.context.coverage.choice = Choice()
    return found


def _run_choices(
    interp: Interpreter, item: Definition, order: schedule.Schedule, run: _Run, calls: int
) -> tuple[list[Found], bool]:
    """
    Run a function or class again, on arguments that lead to sides of conditions that were not taken yet.

    It is expected to make as many `calls` of the framework as before; more for an option than for an unknown condition.
    Also returns whether that ended since no more calls are left: then what is left is for classes further in.
    """
    found: list[Found] = []
    tried: set[search.Goal] = set()
    coverage, counters = interp.context.coverage, interp.fuel.counters
    left, runs = CALLS_IN_CHOICES, 0
    while calls <= left and runs < (CHOICES if CALLS_IN_CHOICES - left > CALLS_IN_SIDES else CHEAP_CHOICES):
        choice = search.next_choice(interp, item, tried, cheap=calls <= CALLS_IN_SIDES)
        if choice is None:
            break
        coverage.choice, runs = choice, runs + 1
        counters["choices"] += 1
        before = counters["framework_calls"]
        more = named(interp, item, run(item))
        found.extend(more)
        faults = [one.event for one in more if not is_opinion(one.event)]
        if all(event.assumptions for event in faults):
            found.extend(_run_outer(interp, item, order, run, writing=not faults))
        left -= counters["framework_calls"] - before
    coverage.choice = Choice()
    return found, runs > 0 and left < calls


def _run_outer(
    interp: Interpreter, inner: Definition, order: schedule.Schedule, run: _Run, *, writing: bool
) -> list[Found]:
    """
    Run the entry point that passes the chosen option on: what is assumed of an inner one may be certain there.

    Only one that writes itself is of use where the inner one is just to make what is written: `writing`.
    """
    coverage = interp.context.coverage
    outer = coverage.outside
    item = None if outer is None else next((one for one in order.items if one.slice == outer.root), None)
    choice = None if outer is None else solver.solve(coverage, interp.context.symbols, outer)
    if item is None or choice is None or (item == inner and choice.options == coverage.choice.options):
        return []  # or what ran on this just now
    if writing and not (choice.options and _writes_when_called(item)):
        return []
    if writing and (item.name, choice.options) in coverage.outer_runs:
        return []
    coverage.outer_runs.add((item.name, choice.options))
    coverage.choice = choice
    interp.fuel.counters["choices"] += 1
    return named(interp, item, run(item))


def _writes_when_called(item: Definition) -> bool:
    """Return whether a method of a class that more than its constructor runs writes."""
    set_up = set_up_methods(item)
    return any(method.writes and method.name not in set_up for method in item.methods)
