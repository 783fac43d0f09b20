"""
Executes statements: each turns a state into the outcomes that it can have.

An outcome says how control goes on: to the next statement, out of a loop, out of the function with a value, or outward
with an exception until something handles it. Exceptions are run by `exceptional_flow`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from inplace_lint.core.span import Slice
from inplace_lint.domain import traits
from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Builtin, ClassValue, Closure, Dotted, Ref, Value
from inplace_lint.interp.call import closures, decorators
from inplace_lint.interp.context import Observer
from inplace_lint.interp.control import exceptional_flow, loops, path_condition, with_stmt
from inplace_lint.interp.expr import assignment, attribute_targets, environment
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.fuel import PATHS_THAT_RAISE, Fuel
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options.sides import writing_side
from inplace_lint.interp.outcome import Flow, Outcome, Outcomes, Raised, goes_on
from inplace_lint.interp.pylib import dataclass_fields, models
from inplace_lint.ir import nodes as ir


def execute(interp: Interpreter, frame: Frame, state: State, body: Sequence[ir.Stmt]) -> Outcomes:
    """
    Run statements in order; at most as many paths go on as the width allows.

    Paths that raise come last. A call that raises has left its paths in `fuel.raised`: those that came since the body
    began are outcomes of the statement that called.
    """
    done: Outcomes = []
    raised: Outcomes = []
    going = [state]
    fuel = interp.fuel
    calls, before = fuel.raised, len(fuel.raised)
    observer = interp.context.observer
    for statement in body:
        if observer is not None:
            _observe(interp, frame, going, statement, observer)
        if len(going) + len(done) == 1:
            if not fuel.step():
                return [Outcome(going[0])]
            after = _EXECUTORS[type(statement)](interp, frame, going[0], statement)
            if len(after) == 1 and after[0].flow is Flow.NEXT and len(calls) == before:
                going[0] = after[0].state
                continue
        else:
            after = []
            with fuel.shared(len(going) + len(done)):
                for path in going:
                    if not fuel.step():
                        return [*done, Outcome(path)]
                    after.extend(_EXECUTORS[type(statement)](interp, frame, path, statement))
        if len(calls) > before:
            exceptional_flow.take(calls, before, after)
        going = _part(after, done, raised)
        going = distinct(interp, going) if len(going) > 1 else going
        if not going:
            break
    return _limited(fuel, done, going, raised)


def _limited(fuel: Fuel, done: Outcomes, going: list[State], raised: Outcomes) -> Outcomes:
    """Return the outcomes of a body: of the paths that left it, those that got to its end, those that raise."""
    if raised or len(going) + len(done) != 1:
        return [*fuel.limited(done), *[Outcome(path) for path in going], *raised[:PATHS_THAT_RAISE]]
    return done or [Outcome(going[0])]


def _observe(interp: Interpreter, frame: Frame, going: list[State], statement: ir.Stmt, observer: Observer) -> None:
    for path in going:
        observer(interp, frame, path, statement)


def _part(after: Outcomes, done: Outcomes, raised: Outcomes) -> list[State]:
    """Return the states that go to the next statement; add the paths that leave to `done` and `raised`."""
    going: list[State] = []
    for outcome in after:
        if outcome.flow is Flow.NEXT:
            going.append(outcome.state)
        else:
            (raised if outcome.flow is Flow.RAISE else done).append(outcome)
    return going


def distinct(interp: Interpreter, states: list[State]) -> list[State]:
    """Merge paths on which nothing but the side of a condition differs, and keep no more than allowed."""
    kept: list[State] = []
    for state in states:
        if not any(other.merge(state) for other in kept):
            kept.append(state)
    return interp.fuel.within(kept)


def run_in_place(interp: Interpreter, frame: Frame, state: State, body: Sequence[ir.Stmt]) -> None:
    """Run statements in a state that others already hold: of several outcomes the state becomes the first."""
    outcomes = execute(interp, frame, state, body)
    if goes_on(outcomes) and outcomes[0].state is not state:
        state.become(outcomes[0].state)


def _expr(interp: Interpreter, frame: Frame, state: State, node: ir.ExprStmt) -> Outcomes:
    dropped = tuple(_dropped(node.value))
    seen = frame.dropping(dropped) if dropped else frame
    results = interp.evaluate(seen, state, node.value)
    if len(results) == 1:
        return [Outcome(results[0][0])]
    return [Outcome(after) for after, _ in results]


def _dropped(expr: ir.Expr) -> Iterator[int]:
    """Yield the calls and the comprehension of which a statement drops the result: both of `x.add_(1).mul_(2)`."""
    sides = (expr.then, expr.orelse) if type(expr) is ir.IfExp else ()
    for part in expr.items if type(expr) is ir.Sequence else sides:
        yield from _dropped(part)
    while isinstance(expr, ir.Call | ir.Comprehension):
        yield expr.at
        if not isinstance(expr, ir.Call) or not isinstance(expr.func, ir.Attr):
            return
        expr = expr.func.value


def _assign(interp: Interpreter, frame: Frame, state: State, node: ir.Assign) -> Outcomes:
    outcomes: Outcomes = []
    for after, value in interp.evaluate(frame, state, node.value):
        if type(node.value) is ir.Binary:
            interp.listeners.combine(interp, frame, after, node, value)
        states = interp.assign(frame, after, node.targets[0], value, node.value)
        for target in node.targets[1:]:
            states = [bound for path in states for bound in interp.assign(frame, path, target, value, node.value)]
        for path in states:
            outcomes.append(Outcome(path))
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
    if isinstance(node.target, ir.Name) and environment.is_unbound(frame, state, node.target.id):
        error = Raised(Builtin("UnboundLocalError"), frame.site(node.at))
        return [Outcome(state, Flow.RAISE, error=error)]
    return [Outcome(after) for after in assignment.augment(interp, frame, state, node)]


def _delete(interp: Interpreter, frame: Frame, state: State, node: ir.Delete) -> Outcomes:
    for target in node.targets:
        assignment.delete(interp, frame, state, target)
    return [Outcome(state)]


def _if(interp: Interpreter, frame: Frame, state: State, node: ir.If) -> Outcomes:
    """
    Run the sides of a condition, as many as the width allows.

    A side that does nothing but raise takes no width: it is followed where something listens, from a state of its own.
    """
    fuel = interp.fuel
    raises = exceptional_flow.only_raises(node.body)
    wrong = state.fork() if raises and fuel.follows_raise() else None
    # Where one side only can be followed, more is seen behind `if not wanted: return None` than in it.
    prefers = fuel.prefers and not raises and not _gives_up(node)
    joined = type(node.test) is ir.BoolOp and not _gives_up(node)
    is_new = joined and interp.context.coverage.now.isdisjoint(((id(node), True), (id(node), False)))
    wanted = writing_side(node) if is_new else None
    with fuel.scope(paths=1, prefers=False) if raises else fuel.preferring(prefers if wanted is None else wanted):
        tests = (
            exceptional_flow.refused(interp, frame, state, node.test)
            if raises
            else interp.condition(frame, state, node.test)
        )
    outcomes: Outcomes = []
    for after, test in tests:
        if raises and path_condition.truth(after, test) is None:
            path_condition.learn(after, test, False)
        outcomes.extend(_sides(interp, frame, after, test, node, prefers=prefers))
    if wrong is not None:
        raised = _raising_side(interp, frame, wrong, node)
        fuel.raises += not raised
        outcomes.extend(raised)
    return outcomes


def _sides(interp: Interpreter, frame: Frame, state: State, test: Value, node: ir.If, *, prefers: bool) -> Outcomes:
    """Run what a path runs of an `if`; where one side only can be followed and that raises, the other one."""
    coverage = interp.context.coverage
    known = path_condition.truth(state, test)
    if isinstance(test, Dotted) and test.name in _NEVER and (node.orelse or not any(map(_imports, node.body))):
        known = False  # where it only imports, what annotations name is known by that
    if known is not None:
        coverage.one(frame, state, node, test, known)
        return execute(interp, frame, state, node.body if known else node.orelse)
    other = state.fork() if interp.fuel.width <= 1 and exceptional_flow.may_raise(interp, node) else None
    with interp.fuel.preferring(prefers):
        sides = path_condition.split(interp.fuel, state, test, None if _gives_up(node) else coverage.wanted(node))
    coverage.split(frame, node, test, sides)
    outcomes = [
        outcome
        for side_state, side in sides
        for outcome in execute(interp, frame, side_state, node.body if side else node.orelse)
    ]
    if other is not None and len(sides) == 1 and not goes_on(outcomes):
        side = not sides[0][1]
        path_condition.learn(other, test, side)
        outcomes = [*execute(interp, frame, other, node.body if side else node.orelse), *outcomes]
    return outcomes


_NEVER = frozenset({"typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"})


def _imports(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.ImportName | ir.ImportFrom)


def _raising_side(interp: Interpreter, frame: Frame, state: State, node: ir.If) -> Outcomes:
    """Run the side of an `if` that does nothing but raise, unless the condition is known to be false."""
    with interp.fuel.scope(paths=1, prefers=True):
        tests = interp.condition(frame, state, node.test)
    for after, test in tests:
        if path_condition.truth(after, test) is None:
            path_condition.learn(after, test, True)
            return execute(interp, frame, after, node.body)
    return []


def _gives_up(node: ir.If) -> bool:
    """Say whether a statement is `if …: return`, with a constant or nothing."""
    last = node.body[-1]
    return isinstance(last, ir.Return) and not node.orelse and (last.value is None or isinstance(last.value, ir.Const))


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
    """Add the outcomes of the case to `outcomes`; return the states in which it is not taken."""
    rest: list[State] = []
    for matched in _passing(interp, frame, state, case.test, rest):
        for captured in _part(execute(interp, frame, matched, case.captures), outcomes, outcomes):
            for taken in _passing(interp, frame, captured, case.guard, rest):
                outcomes.extend(execute(interp, frame, taken, case.body))
    return rest


def _passing(
    interp: Interpreter, frame: Frame, state: State, test: ir.Expr | None, rest: list[State]
) -> Iterator[State]:
    """Yield the states in which a test passes, all where there is none; add the others to `rest`."""
    if test is None:
        yield state
        return
    for after, value in interp.condition(frame, state, test):
        for side_state, side in path_condition.split(interp.fuel, after, value):
            if side:
                yield side_state
            else:
                rest.append(side_state)


def _return(interp: Interpreter, frame: Frame, state: State, node: ir.Return) -> Outcomes:
    if node.value is None:
        return [Outcome(state, Flow.RETURN)]
    return [Outcome(after, Flow.RETURN, value) for after, value in interp.evaluate(frame, state, node.value)]


def _jump(_interp: Interpreter, _frame: Frame, state: State, node: ir.Jump) -> Outcomes:
    return [Outcome(state, _JUMPS[node.kind])]


_JUMPS = {"pass": Flow.NEXT, "break": Flow.BREAK, "continue": Flow.CONTINUE}


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
    """Return the function that a definition makes, with its defaults evaluated and its decorators applied."""
    env = frame.env if frame.closure is not None or owner is None else None
    for after, defaults in closures.evaluate_defaults(interp, frame, state, node.function):
        closure = Closure(node.function, frame.module, env, defaults, owner)
        return decorators.apply(interp, frame, after, node.decorators, closure)
    return []


def _class(interp: Interpreter, frame: Frame, state: State, node: ir.ClassDef) -> Outcomes:
    cls = make_class(interp, frame, state, node, {})
    state.bind(frame.env, node.name, decorators.run_on_class(interp, frame, state, node.decorators, cls))
    return [Outcome(state)]


def make_class(
    interp: Interpreter, frame: Frame, state: State, node: ir.ClassDef, methods: Mapping[str, Slice]
) -> ClassValue:
    """Return the class of a definition; its body runs later, on each path that reads a class attribute."""
    metaclass = [one.value for one in node.keywords if one.name == "metaclass"]
    bases: list[Value] = []
    for base in (*node.bases, *metaclass):
        # IMPRECISE: a base expression with several values is followed on its first one.
        results = interp.evaluate(frame, state, base)
        bases.append(models.as_base(interp, frame, state, results[0][1]) if results else NONE)
    meta = bases.pop() if metaclass else None
    is_data = dataclass_fields.makes_data(interp, node, bases)
    env = frame.env if frame.closure is not None else None
    inherited = (base.meta for base in bases if isinstance(base, ClassValue) and base.meta is not None)
    meta = meta if isinstance(meta, ClassValue) else next(inherited, None)
    return ClassValue(node.name, node.name, frame.module, tuple(bases), frame.slice, methods, is_data, env, meta)


def class_body(interp: Interpreter, state: State, cls: ClassValue) -> Ref:
    """Return the name space of a class on this path, after running its body if this path has not yet."""
    key = (cls.slice, cls.name, id(cls))
    known = state.trait(traits.CLASS_SCOPE, key)
    if known is not None:
        return known
    # IMPRECISE: of a class that a function made on another path, the variables of the function are not known here.
    around = cls.env if cls.env is not None and type(state.heap.get(cls.env.id)) is Names else None
    env = state.new(Names({}, {}, around))
    state.set_trait(traits.CLASS_SCOPE, key, env)
    node = interp.context.definition(cls)
    if node is not None:
        frame = Frame(env, cls.module, cls.slice)
        closures.bind_read(interp, state, cls, env, node.body)
        run_in_place(interp, frame, state, node.body)
        attribute_targets.name_descriptors(interp, frame, state, cls)
        if cls.slice.kind == "class":
            environment.note_names(state, env, cls.module, cls.name)
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
    ir.For: loops.run_for,
    ir.While: loops.run_while,
    ir.With: with_stmt.run_with,
    ir.Try: exceptional_flow.run_try,
    ir.Match: _match,
    ir.Return: _return,
    ir.Raise: exceptional_flow.run_raise,
    ir.Assert: exceptional_flow.run_assert,
    ir.Jump: _jump,
    ir.Scope: _scope,
    ir.ImportName: _import,
    ir.ImportFrom: _import_from,
    ir.FunctionDef: _function,
    ir.ClassDef: _class,
    ir.Unknown: _unknown,
}
