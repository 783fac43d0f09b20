"""
Executes statements: each turns a state into the outcomes that it can have.

An outcome says how control goes on: to the next statement, out of the function with a value, out of a loop. A path on
which an exception is raised has no outcome here; handlers start from the state at their `try`, under an assumption.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inplace_lint.core.records import replace
from inplace_lint.core.span import Slice
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, ClassValue, Closure, Ref, Value
from inplace_lint.interp.call import closures, decorators
from inplace_lint.interp.control import exceptional_flow, loops, path_condition, with_stmt
from inplace_lint.interp.expr import assignment, environment
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Outcome, Outcomes
from inplace_lint.ir import nodes as ir

if TYPE_CHECKING:
    pass
else:
    pass


def execute(interp: Interpreter, frame: Frame, state: State, body: Sequence[ir.Stmt]) -> Outcomes:
    """Run statements in order; at most as many paths go on as the budget's width."""
    done: Outcomes = []
    going = [state]
    budget = interp.fuel
    interp.context.ran.add(id(body))
    observer = interp.context.observer
    for statement in body:
        after: Outcomes = []
        run = _EXECUTORS[type(statement)]
        width = budget.share(len(going) + len(done))
        for path in going:
            if not budget.step():
                budget.width = width
                return [*done, Outcome(path)]
            if observer is not None:
                observer(interp, frame, path, statement)
            after.extend(run(interp, frame, path, statement))
        budget.width = width
        going = []
        for outcome in after:
            if outcome.flow == "next":
                going.append(outcome.state)
            else:
                done.append(outcome)
        if len(going) > 1:
            going = distinct(interp, going)
        if not going:
            break
    return [*interp.fuel.limited(done), *[Outcome(path) for path in going]]


def distinct(interp: Interpreter, states: list[State]) -> list[State]:
    """Merge paths on which nothing but the side of a condition differs, and keep no more than allowed."""
    kept: list[State] = []
    for state in states:
        if not any(other.merge(state) for other in kept):
            kept.append(state)
    if len(kept) > interp.fuel.width:
        interp.fuel.drop("paths")
        kept = kept[: interp.fuel.width]
    return kept


def run_in_place(interp: Interpreter, frame: Frame, state: State, body: Sequence[ir.Stmt]) -> None:
    """Run statements in a state that others already hold: of several outcomes the first is what the state becomes."""
    outcomes = execute(interp, frame, state, body)
    if outcomes and outcomes[0].state is not state:
        state.become(outcomes[0].state)


def _expr(interp: Interpreter, frame: Frame, state: State, node: ir.ExprStmt) -> Outcomes:
    seen = frame.dropping(node.value.at) if type(node.value) is ir.Call else frame
    return [Outcome(after) for after, _ in interp.evaluate(seen, state, node.value)]


def _assign(interp: Interpreter, frame: Frame, state: State, node: ir.Assign) -> Outcomes:
    outcomes: Outcomes = []
    for after, value in interp.evaluate(frame, state, node.value):
        states = [after]
        for target in node.targets:
            states = [bound for path in states for bound in interp.assign(frame, path, target, value, node.value)]
        outcomes.extend(Outcome(path) for path in states)
    return outcomes


def _declare(interp: Interpreter, frame: Frame, state: State, node: ir.Declare) -> Outcomes:
    if node.value is None:
        return [Outcome(state)]
    return [
        Outcome(bound)
        for after, value in interp.evaluate(frame, state, node.value)
        for bound in interp.assign(frame, after, node.target, value, node.value)
    ]


def _augmented(interp: Interpreter, frame: Frame, state: State, node: ir.AugAssign) -> Outcomes:
    return [Outcome(after) for after in assignment.augment(interp, frame, state, node)]


def _delete(interp: Interpreter, frame: Frame, state: State, node: ir.Delete) -> Outcomes:
    for target in node.targets:
        assignment.delete(interp, frame, state, target)
    return [Outcome(state)]


def _if(interp: Interpreter, frame: Frame, state: State, node: ir.If) -> Outcomes:
    outcomes: Outcomes = []
    if exceptional_flow.refuses(node.body):
        return _refusal(interp, frame, state, node)
    budget = interp.fuel
    prefers = budget.prefers
    leaves = exceptional_flow.gives_up(node)
    # Where one side only can be followed, more is seen behind `if not wanted: return None` than in it.
    budget.prefers = prefers and not leaves
    tests = interp.evaluate(frame, state, node.test)
    budget.prefers = prefers
    for after, test in tests:
        spare = after.fork() if budget.width <= 1 and exceptional_flow.may_raise(interp, node) else None
        budget.prefers = prefers and not leaves
        sides = path_condition.split(interp, frame, after, test)
        budget.prefers = prefers
        found = [
            outcome
            for side_state, side in sides
            for outcome in execute(interp, frame, side_state, node.body if side else node.orelse)
        ]
        if not found and spare is not None and path_condition.truth(spare, test) is None:
            # The one side that was followed ends in an error: the program takes the other.
            other = not sides[0][1]
            path_condition.learn(spare, test, other)
            found = execute(interp, frame, spare, node.body if other else node.orelse)
        outcomes.extend(found)
    return outcomes


def _refusal(interp: Interpreter, frame: Frame, state: State, node: ir.If) -> Outcomes:
    """Run `if wrong: raise …`: a path that raises ends, so that an unknown condition is taken to be false."""
    budget = interp.fuel
    before, (budget.width, budget.prefers) = (budget.width, budget.prefers), (1, False)
    tests = interp.evaluate(frame, state, node.test)
    budget.width, budget.prefers = before
    outcomes: Outcomes = []
    for after, test in tests:
        known = path_condition.truth(after, test)
        if known is None:
            path_condition.learn(after, test, False)
        outcomes.extend(execute(interp, frame, after, node.body if known else node.orelse))
    return outcomes


def _for(interp: Interpreter, frame: Frame, state: State, node: ir.For) -> Outcomes:
    return loops.run_for(interp, frame, state, node)


def _while(interp: Interpreter, frame: Frame, state: State, node: ir.While) -> Outcomes:
    return loops.run_while(interp, frame, state, node)


def _with(interp: Interpreter, frame: Frame, state: State, node: ir.With) -> Outcomes:
    return with_stmt.run_with(interp, frame, state, node)


def _try(interp: Interpreter, frame: Frame, state: State, node: ir.Try) -> Outcomes:
    start = state.fork()
    outcomes: Outcomes = []
    handled = exceptional_flow.handles(node, interp.context.default().framework.errors)
    if handled:
        state.modes = replace(state.modes, expects=state.modes.expects or "own", own=frame.caller)
    for outcome in execute(interp, frame, state, node.body):
        if handled:
            outcome.state.modes = replace(outcome.state.modes, expects=start.modes.expects, own=start.modes.own)
        if outcome.flow == "next":
            outcomes.extend(execute(interp, frame, outcome.state, node.orelse))
        else:
            outcomes.append(outcome)
    for handler in node.handlers:
        path = start.fork()
        path.assume("an exception is raised and handled")
        if handler.name is not None:
            path.bind(frame.env, handler.name, path.symbols.sym((origins.EXCEPTION, node.at, path.next_id)))
        outcomes.extend(execute(interp, frame, path, handler.body))
    if not node.finalbody:
        return interp.fuel.limited(outcomes)
    return interp.fuel.limited([final for outcome in outcomes for final in _finally(interp, frame, node, outcome)])


def _finally(interp: Interpreter, frame: Frame, node: ir.Try, outcome: Outcome) -> Outcomes:
    return [
        Outcome(final.state, outcome.flow, outcome.value) if final.flow == "next" else final
        for final in execute(interp, frame, outcome.state, node.finalbody)
    ]


def _match(interp: Interpreter, frame: Frame, state: State, node: ir.Match) -> Outcomes:
    outcomes: Outcomes = []
    for after, subject in interp.evaluate(frame, state, node.subject):
        after.bind(frame.env, node.name, subject)
        going = [after]
        for case in node.cases:
            going = [rest for path in going for rest in _case(interp, frame, path, case, outcomes)]
        outcomes.extend(Outcome(path) for path in going)
    return interp.fuel.limited(outcomes)


def _case(interp: Interpreter, frame: Frame, state: State, case: ir.Case, outcomes: Outcomes) -> list[State]:
    """Add what happens if the case is taken; give the states in which it is not."""
    rest: list[State] = []
    tests: list[ir.Expr] = [test for test in (case.test, case.guard) if test is not None]
    going = [state]
    for position, test in enumerate(tests or [ir.Const(True)]):
        taken: list[State] = []
        for path in going:
            if position == 0:
                for name in case.binds:
                    path.bind(frame.env, name, path.symbols.sym((origins.CAPTURED, name, path.next_id)))
            for after, value in interp.evaluate(frame, path, test):
                for side_state, side in path_condition.split(interp, frame, after, value):
                    (taken if side else rest).append(side_state)
        going = taken
    for path in going:
        outcomes.extend(execute(interp, frame, path, case.body))
    return rest


def _return(interp: Interpreter, frame: Frame, state: State, node: ir.Return) -> Outcomes:
    if node.value is None:
        return [Outcome(state, "return")]
    return [Outcome(after, "return", value) for after, value in interp.evaluate(frame, state, node.value)]


def _raise(_interp: Interpreter, _frame: Frame, _state: State, _node: ir.Raise) -> Outcomes:
    return []


def _assert(interp: Interpreter, frame: Frame, state: State, node: ir.Assert) -> Outcomes:
    return [
        Outcome(side_state)
        for after, test in interp.evaluate(frame, state, node.test)
        for side_state, side in path_condition.split(interp, frame, after, test)
        if side
    ]


def _jump(_interp: Interpreter, _frame: Frame, state: State, node: ir.Jump) -> Outcomes:
    return [Outcome(state, "next" if node.kind == "pass" else node.kind)]


def _scope(_interp: Interpreter, _frame: Frame, state: State, _node: ir.Scope) -> Outcomes:
    return [Outcome(state)]


def _import(interp: Interpreter, frame: Frame, state: State, node: ir.ImportName) -> Outcomes:
    environment.bind_import(interp, frame, state, node)
    return [Outcome(state)]


def _import_from(interp: Interpreter, frame: Frame, state: State, node: ir.ImportFrom) -> Outcomes:
    environment.bind_import_from(interp, frame, state, node)
    return [Outcome(state)]


def _function(interp: Interpreter, frame: Frame, state: State, node: ir.FunctionDef) -> Outcomes:
    outcomes: Outcomes = []
    for after, closure in make_function(interp, frame, state, node):
        after.bind(frame.env, decorators.member(node), closure)
        outcomes.append(Outcome(after))
    return outcomes


def make_function(
    interp: Interpreter, frame: Frame, state: State, node: ir.FunctionDef, owner: ClassValue | None = None
) -> list[tuple[State, Value]]:
    """Give the function that a definition makes, with its defaults evaluated and its decorators applied."""
    env = frame.env if frame.closure is not None or owner is None else None
    for after, defaults in closures.evaluate_defaults(interp, frame, state, node.function):
        closure = Closure(node.function, frame.module, env, defaults, owner)
        return decorators.apply(interp, frame, after, node.decorators, closure)
    return []


def _class(interp: Interpreter, frame: Frame, state: State, node: ir.ClassDef) -> Outcomes:
    cls = make_class(interp, frame, state, node, {})
    state.bind(frame.env, node.name, cls)
    return [Outcome(state)]


def make_class(
    interp: Interpreter, frame: Frame, state: State, node: ir.ClassDef, methods: Mapping[str, Slice]
) -> ClassValue:
    """Give the class of a definition; its body runs later, on each path that asks for a class attribute."""
    bases: list[Value] = []
    for base in node.bases:
        # IMPRECISE: a base expression with several values is followed on its first one.
        results = interp.evaluate(frame, state, base)
        bases.append(results[0][1] if results else NONE)
    is_data = any(decorators.spells(decorator, "dataclass") for decorator in node.decorators)
    env = frame.env if frame.closure is not None else None
    return ClassValue(node.name, node.name, frame.module, tuple(bases), frame.slice, methods, is_data, env)


def class_body(interp: Interpreter, state: State, cls: ClassValue) -> Ref:
    """Give the name space of a class on this path, running its body if this path has not yet."""
    key = (cls.slice, cls.name, id(cls))
    known = state.trait(traits.CLASS_SCOPE, key)
    if known is not None:
        return known
    env = state.new(Names({}, {}, cls.env))
    state.set_trait(traits.CLASS_SCOPE, key, env)
    node = interp.context.definition(cls)
    if node is not None:
        frame = Frame(env, cls.module, cls.slice)
        run_in_place(interp, frame, state, node.body)
    return env


def _unknown(interp: Interpreter, frame: Frame, state: State, node: ir.Unknown) -> Outcomes:
    return [Outcome(after) for after, _ in interp.evaluate(frame, state, node)]


_EXECUTORS: dict[type, Callable[[Interpreter, Frame, State, Any], Outcomes]] = {
    ir.ExprStmt: _expr,
    ir.Assign: _assign,
    ir.Declare: _declare,
    ir.AugAssign: _augmented,
    ir.Delete: _delete,
    ir.If: _if,
    ir.For: _for,
    ir.While: _while,
    ir.With: _with,
    ir.Try: _try,
    ir.Match: _match,
    ir.Return: _return,
    ir.Raise: _raise,
    ir.Assert: _assert,
    ir.Jump: _jump,
    ir.Scope: _scope,
    ir.ImportName: _import,
    ir.ImportFrom: _import_from,
    ir.FunctionDef: _function,
    ir.ClassDef: _class,
    ir.Unknown: _unknown,
}
