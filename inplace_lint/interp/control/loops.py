"""
Runs loops: every turn over a short known iterable, else two turns, or none where the length is not known.

Of a training loop the first turns and the last are run: they show what one step leaves to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const
from inplace_lint.interp.call import module_containers
from inplace_lint.interp.control import generators, iteration, path_condition
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.fuel import EXACT_TURNS, STEPS_IN_WHILE, UNKNOWN_TURNS
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import late_turns
from inplace_lint.interp.outcome import Flow, Items, Outcome, Outcomes
from inplace_lint.ir import nodes as ir
from inplace_lint.ir import scopes
from inplace_lint.ir.walk import walk


def run_for(interp: Interpreter, frame: Frame, state: State, node: ir.For) -> Outcomes:
    """Run a `for` loop."""
    outcomes: Outcomes = []
    began, calls = state.clock, generators.runs_between(node.iter)
    for after, iterable in interp.evaluate(frame, state, node.iter):
        items = iteration.turns(interp, frame, after, iterable, node.iter, node.at, node=node)
        items = late_turns.without_similar(interp, frame, after, node, items)
        items = late_turns.with_late_number(interp, frame, after, node, iterable, items)
        counts = late_turns.may_turn_more(after, iterable, items)
        skipped = [after.fork()] if not items.exact and not items.items else []
        going, ended, prefers = [after], list[State](), interp.fuel.prefers
        since, made = after.clock, after.next_id
        ran = (began, since) if calls else generators.when_run(after, iterable)
        inner = frame.looping(len(items.items))
        forms = module_containers.forms(after, items.items)
        after.clock += calls  # what the first turn keeps is later than what the generator did
        for turn in range(1, len(items.items) + 1):
            if EXACT_TURNS <= turn < len(items.items) and _repeats(node, going, since):
                counts = True
                continue
            # The last turn of a training goes another way than those before: what they kept meets what it writes.
            turns = UNKNOWN_TURNS < turn == len(items.items) and _has_trained(going[0], since)
            with interp.fuel.scope(prefers=not prefers, enters=False) if turns else interp.fuel.preferring(prefers):
                late_turns.count_on_all(interp, frame, going if counts and turn == len(items.items) else (), node.body)
                going = _bound(interp, frame, going, node, items, turn - 1, ended)
                for path in going:
                    interp.listeners.turn(frame, path, node.target)
                had, gone = len(ended), len(outcomes)
                going = _turn(interp, inner, going, node.body, ended, outcomes)
            left = [*ended[had:], *(outcome.state for outcome in outcomes[gone:])]
            generators.end_turn(going, left, (turn, len(items.items)), ran)
            if not going or interp.fuel.is_used_up:
                break
        module_containers.follow((*going, *ended), forms)
        _forget_numbers(frame, () if items.exact else going, node.body)
        _leave(interp, frame, (*going, *ended), node, since, made)
        for path in (*going, *skipped):
            outcomes.extend(interp.execute(frame, path, node.orelse))
        outcomes.extend(Outcome(path) for path in ended)
    return interp.fuel.limited(outcomes)


def _leave(interp: Interpreter, frame: Frame, paths: Iterable[State], node: ir.For, since: int, made: int) -> None:
    for path in paths:
        interp.listeners.leave(interp, frame, path, node, since, made)


def _repeats(node: ir.For, going: list[State], since: int) -> bool:
    """Check whether turns train, as the first ones did, and no condition asks which turn it is."""
    return all(_has_trained(path, since) for path in going) and not _asks_for_turn(node)


def _has_trained(path: State, since: int) -> bool:
    """Check whether a backward ran in a loop that began at a time; a loop over layers, in a step, has none."""
    return (path.trait(traits.TRAINS, None) or 0) > since


def _asks_for_turn(node: ir.For) -> bool:
    tests = [one.test for one in walk(node.body) if isinstance(one, ir.If | ir.IfExp | ir.While | ir.Assert)]
    return any(late_turns.mentions(test, name) for name in scopes.names_of(node.target) for test in tests)


def _bound(
    interp: Interpreter, frame: Frame, going: list[State], node: ir.For, items: Items, turn: int, ended: list[State]
) -> list[State]:
    """Return the paths of a turn with its item in the target; add those on which there is none to those that ended."""
    if items.asked is None:
        return [bound for path in going for bound in interp.assign(frame, path, node.target, items.items[turn])]
    found: list[State] = []
    for path in going:
        before = path.fork() if turn else None
        taken = iteration.asked(interp, frame, path, items, turn, node.at)
        ended.extend([] if taken or before is None else [before])
        found.extend(bound for after, item in taken for bound in interp.assign(frame, after, node.target, item))
    return interp.fuel.within(found)


def _turn(
    interp: Interpreter,
    frame: Frame,
    going: list[State],
    body: tuple[ir.Stmt, ...],
    ended: list[State],
    outcomes: Outcomes,
) -> list[State]:
    """Run the body once on each path: return the paths that go round, add those that left the loop."""
    again: list[State] = []
    with interp.fuel.shared(len(going)):
        for path in going:
            for outcome in interp.execute(frame, path, body):
                if outcome.flow is Flow.NEXT or outcome.flow is Flow.CONTINUE:
                    again.append(outcome.state)
                elif outcome.flow is Flow.BREAK:
                    ended.append(outcome.state)
                else:
                    outcomes.append(outcome)
    return interp.fuel.within(again)


def run_while(interp: Interpreter, frame: Frame, state: State, node: ir.While) -> Outcomes:
    """
    Run a `while` loop: to its end where that is known, else for two turns, or three if its condition is known to hold.

    Where there are too many paths, those of more turns go on: what one turn kept meets what the next one writes.
    """
    whole = _run_to_its_end(interp, frame, state.fork(), node)
    return _run_first_turns(interp, frame, state, node) if whole is None else whole


def _run_first_turns(interp: Interpreter, frame: Frame, state: State, node: ir.While) -> Outcomes:
    outcomes: Outcomes = []
    ended: list[State] = []
    going = [state]
    left: list[State] = []
    since, made = state.clock, state.next_id
    turn = 0
    while going:
        inside: list[State] = []
        is_unknown = False
        late_turns.count_on_all(interp, frame, going if turn == 1 else (), node.body, node.test)
        for path in going:
            for after, test in interp.condition(frame, path, node.test):
                is_unknown = is_unknown or path_condition.truth(after, test) is None
                for side_state, side in path_condition.split(interp.fuel, after, test):
                    if side:
                        inside.append(side_state)
                    else:
                        left.insert(0, side_state)
        if (is_unknown and turn == UNKNOWN_TURNS) or not interp.fuel.step() or interp.fuel.is_used_up:
            left = [*inside, *left]
            break
        # A loop that goes on (`while True`) is left after the turns that show what carries over.
        turn += 1
        going = _turn(interp, frame, inside, node.body, ended, outcomes)
        if turn > UNKNOWN_TURNS:
            _forget_numbers(frame, going, node.body)
            left = [*going, *left]
            break
    for path in (*left, *ended):
        interp.listeners.leave(interp, frame, path, node, since, made)
    for path in left[: interp.fuel.width]:
        outcomes.extend(interp.execute(frame, path, node.orelse))
    outcomes.extend(Outcome(path) for path in ended)
    return interp.fuel.limited(outcomes)


def _run_to_its_end(interp: Interpreter, frame: Frame, state: State, node: ir.While) -> Outcomes | None:
    """
    Run a `while` loop as long as its condition is known; None where it has no end that is known, or trains.

        while size > 1:         # six turns from 64
            size //= 2
    """
    fuel, since, made = interp.fuel, state.clock, state.next_id
    raised, least = len(fuel.raised), fuel.steps - STEPS_IN_WHILE
    outcomes: Outcomes = []
    ended: list[State] = []
    going = [state]
    while going:
        tests = interp.condition(frame, going[0], node.test)
        side = path_condition.truth(*tests[0]) if len(tests) == 1 else None
        if side is None or fuel.steps < least:
            break
        if not side:
            interp.listeners.leave(interp, frame, tests[0][0], node, since, made)
            return interp.execute(frame, tests[0][0], node.orelse)
        going = _turn(interp, frame, [tests[0][0]], node.body, ended, outcomes)
        if len(going) + len(ended) + len(outcomes) != 1 or _has_trained((*going, *ended, state)[0], since):
            break
    if going or len(ended) + len(outcomes) != 1:
        del fuel.raised[raised:]
        return None
    for path in ended:
        interp.listeners.leave(interp, frame, path, node, since, made)
    return [*outcomes, *(Outcome(path) for path in ended)]


def _forget_numbers(frame: Frame, paths: Sequence[State], body: tuple[ir.Stmt, ...]) -> None:
    """Make the numbers unknown that statements compute of themselves, where not all turns were run."""
    counters = set(_counters(body)) if paths else set[str]()
    for path in paths:
        scope = path.heap[frame.env.id]
        assert isinstance(scope, Names)
        for name in sorted(scope.values.keys() & counters):
            value = scope.values[name]
            if type(value) is Const and type(value.value) in {int, float}:
                path.bind(frame.env, name, path.symbols.sym((origins.TURN, value, name, path.fresh()), "number"))


def _counters(body: tuple[ir.Stmt, ...]) -> Iterator[str]:
    """Yield the names of the variables that statements compute of themselves: `n += 1`, `size = size // 2`."""
    for part in walk(body):
        if type(part) is ir.AugAssign and type(part.target) is ir.Name:
            yield part.target.id
        elif type(part) is ir.Assign:
            names = (name for target in part.targets for name in scopes.names_of(target))
            yield from (name for name in names if late_turns.mentions(part.value, name))
