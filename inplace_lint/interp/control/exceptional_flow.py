"""
Runs what raises and handles exceptions.

    try:
        check(x)              # raises ValueError on one path, returns on another
    except KeyError:
        ...                   # not entered by the ValueError
    except ValueError as error:
        ...                   # entered from the state in which `check` raised
    finally:
        ...                   # runs on both paths

A raise is an outcome like a return. It goes outward through statements and calls until a handler names its class;
where the class is not known it may be any. An unknown call inside a `try` may raise as well: handlers also start from
the state at the `try`, under an assumption, unless each path ends in a raise of a known class.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, ClassValue, Closure, Const, Dotted, Tuple, Value
from inplace_lint.interp.control import exclusive, missing, path_condition
from inplace_lint.interp.control import optional_imports as imports
from inplace_lint.interp.frame import Frame, text_of
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Flow, Outcome, Outcomes, Raised, Results
from inplace_lint.interp.pylib import type_tests
from inplace_lint.ir import abstract
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk


def run_raise(interp: Interpreter, frame: Frame, state: State, node: ir.Raise) -> Outcomes:
    """Run a `raise` statement; the class of the exception is evaluated only where something listens."""
    site = frame.site(node.at)
    if node.value is None:
        return [Outcome(state, Flow.RAISE, error=frame.handles or Raised(None, site))]
    if not interp.fuel.listens:
        return [Outcome(state, Flow.RAISE, error=Raised(None, site))]
    # IMPRECISE: the arguments of the exception are not evaluated.
    named = node.value.func if isinstance(node.value, ir.Call) else node.value
    return [
        Outcome(after, Flow.RAISE, error=_error(frame, after, value, node))
        for after, value in interp.evaluate(frame, state, named)
    ]


def _error(frame: Frame, state: State, value: Value, node: ir.Raise) -> Raised:
    """Return the exception that a class, an instance or the name of a handled one raises."""
    if frame.handles is not None and value == frame.handles.value:
        return frame.handles
    instance = state.instance(value)
    cls = value if instance is None else instance.cls
    return Raised(cls if isinstance(cls, ClassValue | Builtin | Dotted) else None, frame.site(node.at))


def run_assert(interp: Interpreter, frame: Frame, state: State, node: ir.Assert) -> Outcomes:
    """Run `assert test`: on its false side it raises, which takes no width."""
    outcomes: Outcomes = []
    error = Raised(Builtin("AssertionError"), frame.site(node.at))
    for after, test in interp.condition(frame, state, node.test):
        known = path_condition.truth(after, test)
        if known is None and interp.fuel.follows_raise():
            wrong = after.fork()
            path_condition.learn(wrong, test, False)
            outcomes.append(Outcome(wrong, Flow.RAISE, error=error))
        if known is None:
            path_condition.learn(after, test, True)
        interp.context.coverage.one(frame, after, node, test, known is not False)
        outcomes.append(Outcome(after) if known is not False else Outcome(after, Flow.RAISE, error=error))
    return outcomes


def take(calls: Outcomes, before: int, after: Outcomes) -> None:
    """Move the paths on which calls have raised to the outcomes of the statement that called."""
    # UNSOUND: where an evaluator goes on after a call without a result, the raise is not followed.
    going = {id(outcome.state) for outcome in after}
    after.extend(outcome for outcome in calls[before:] if id(outcome.state) not in going)
    del calls[before:]


def run_try(interp: Interpreter, frame: Frame, state: State, node: ir.Try) -> Outcomes:
    """Run a `try` statement; of one that imports an optional package, the handler that makes up for it."""
    if not imports.is_optional(interp, frame, node):
        return _try(interp, frame, state, node)
    instead = imports.instead(node)
    if instead is not None:
        outcomes = interp.execute(frame, state.fork(), instead.body)
        if not all(imports.refuses(interp, frame, outcome.state, node) for outcome in outcomes):
            return outcomes
    outcomes = _try(interp, frame, state, node)
    for outcome in outcomes:
        imports.forget(interp, frame, outcome.state, node)
    return outcomes


def _try(interp: Interpreter, frame: Frame, state: State, node: ir.Try) -> Outcomes:
    start = state.fork() if node.handlers else state
    package = missing.package(interp, frame, node)
    if package and not all(_has_raise(handler.body) for handler in node.handlers):
        state.assume(f"`{package}` is installed")
    outcomes, inside = _run_body(interp, frame, state, node)
    known = inside and all(outcome.error is not None and outcome.error.cls is not None for outcome in inside)
    if not known and not missing.nothing(node, frame, inside) and not missing.is_skipped(interp, frame, start, node):
        for handler in (one for one in node.handlers if not _lacks_nothing(interp, frame, start, node, one)):
            path = start.fork()
            if not package:
                path.assume("an exception is raised and handled")
            outcomes.extend(_handle(interp, frame, path, handler, Raised(None, frame.site(node.at))))
    if node.finalbody:
        outcomes = [final for outcome in outcomes for final in _finally(interp, frame, node, outcome)]
    return interp.fuel.limited(outcomes)


def _run_body(interp: Interpreter, frame: Frame, state: State, node: ir.Try) -> tuple[Outcomes, Outcomes]:
    """Run the body of a `try`; return its outcomes after the handlers of what it raises, and those of the body."""
    modes = state.modes
    expects = handles(node, interp.context.default().framework.errors)
    if expects:
        state.modes = replace(modes, expects=modes.expects or "own", own=frame.caller)
    named = [_types(one.type) if one.type is not None else _ANY for one in node.handlers]
    with interp.fuel.listening(bool(node.handlers), frozenset((frame.env.id, name) for each in named for name in each)):
        inside = missing.execute(interp, frame, state, node.body, named)
    outcomes: Outcomes = []
    for outcome in inside:
        if outcome.flow is Flow.RAISE:
            # IMPRECISE: modes that were switched for good in between are those of before.
            outcome.state.modes = modes
        elif expects:
            outcome.state.modes = replace(outcome.state.modes, expects=modes.expects, own=modes.own)
        if outcome.flow is Flow.NEXT:
            outcomes.extend(interp.execute(frame, outcome.state, node.orelse))
        elif outcome.flow is Flow.RAISE:
            outcomes.extend(_handled(interp, frame, node.handlers, outcome))
        else:
            outcomes.append(outcome)
    return outcomes, inside


def _lacks_nothing(interp: Interpreter, frame: Frame, start: State, node: ir.Try, handler: ir.Handler) -> bool:
    """Check whether a handler is for an attribute that is missing, and all that is called is what a framework has."""
    if handler.type is None or _types(handler.type) != {"AttributeError"}:
        return False
    called = [part.func for part in walk(node.body) if isinstance(part, ir.Call)]
    read = sum(isinstance(part, ir.Attr) for part in walk(node.body))
    if not called or read != sum(text_of(func).count(".") for func in called if isinstance(func, ir.Attr)):
        return False
    values = [value for func in called for _, value in interp.evaluate(frame, start.fork(), func)[:1]]
    return all(isinstance(value, Dotted) and bool(interp.context.forms(value.name)) for value in values)


def _handled(interp: Interpreter, frame: Frame, handlers: Sequence[ir.Handler], outcome: Outcome) -> Outcomes:
    """Run the first handler that names the class of an exception, and those before it that may; else let it go on."""
    outcomes: Outcomes = []
    assert outcome.error is not None
    for handler in handlers:
        caught = handler.type is None or _catches(interp, frame, handler.type, outcome)
        if caught is False:
            continue
        path = outcome.state if caught else outcome.state.fork()
        if not caught:
            path.assume("an exception is raised and handled")
        outcomes.extend(_handle(interp, frame, path, handler, outcome.error))
        if caught:
            return outcomes
    return [*outcomes, outcome]


def suppress(interp: Interpreter, frame: Frame, named: Sequence[ir.Expr], outcomes: Outcomes) -> Outcomes:
    """Return the outcomes of a `with` that handles exceptions of some classes, from the outcomes of its body."""
    handler = ir.Handler(ir.Sequence(0, "tuple", tuple(named)), None, ())
    return [
        left
        for outcome in outcomes
        for left in (_handled(interp, frame, (handler,), outcome) if outcome.flow is Flow.RAISE else (outcome,))
    ]


def _handle(interp: Interpreter, frame: Frame, state: State, handler: ir.Handler, error: Raised) -> Outcomes:
    """Run the body of a handler; a `raise` without a value in it raises the same exception again."""
    value = state.symbols.sym((origins.EXCEPTION, error.site.place.at, state.next_id))
    if handler.name is not None:
        state.bind(frame.env, handler.name, value)
    return interp.execute(replace(frame, handles=replace(error, value=value)), state, handler.body)


def _finally(interp: Interpreter, frame: Frame, node: ir.Try, outcome: Outcome) -> Outcomes:
    """Run a `finally` clause, after which control goes on as it was leaving unless the clause itself leaves."""
    return [
        Outcome(final.state, outcome.flow, outcome.value, outcome.error) if final.flow is Flow.NEXT else final
        for final in interp.execute(frame, outcome.state, node.finalbody)
    ]


def _catches(interp: Interpreter, frame: Frame, named: ir.Expr, outcome: Outcome) -> bool | None:
    """Say whether what a handler names includes the class of an exception; None where that is not known."""
    cls = None if outcome.error is None else outcome.error.cls
    for after, value in interp.evaluate(frame, outcome.state, named)[:1]:
        outcome.state = after
        return _includes(interp, value, cls)
    return None


def _includes(interp: Interpreter, named: Value, cls: Value | None) -> bool | None:
    if isinstance(named, Tuple):
        found = [_includes(interp, item, cls) for item in named.items]
        return True if True in found else None if None in found or not named.exact else False
    if named == Builtin("BaseException"):
        return True
    if cls is None or not isinstance(named, Builtin | ClassValue | Dotted):
        return None
    derived = type_tests.derives(interp, cls, named)
    # Libraries give other names to classes of Python, and derive theirs from these.
    foreign = isinstance(named, Dotted) or any(isinstance(entry, Dotted) for entry in interp.context.mro(cls))
    return None if foreign and not derived else derived


def may_raise(interp: Interpreter, node: ir.If) -> bool:
    """Say whether a statement raises in its own text; only then is a state kept to follow its other side from."""
    known = interp.context.raising.get(id(node))
    if known is None or known[0] is not node:
        known = interp.context.raising[id(node)] = (node, _has_raise(node.body) or _has_raise(node.orelse))
    return known[1]


def is_left_open(interp: Interpreter, closure: Closure) -> bool:
    """
    Say whether a derived class has to define a method, whose call may then do anything.

    It does nothing but raise `NotImplementedError`, or nothing at all under `abstractmethod`. The statements of a
    program know the class of each object: there it raises, if that is handled.
    """
    if not abstract.is_abstract(closure.function.body, declared=closure.abstract):
        return False
    return interp.context.coverage.root is not None or all(name != abstract.OPEN for _, name in interp.fuel.lacks)


_PAIR = 2


def _has_raise(body: Sequence[ir.Stmt]) -> bool:
    for node in body:
        if isinstance(node, ir.Raise | ir.Assert):
            return True
        if isinstance(node, ir.FunctionDef | ir.ClassDef):
            continue
        inner = [part for part in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")) if part]
        cases = [*getattr(node, "cases", ()), *getattr(node, "handlers", ())]
        if any(_has_raise(part) for part in (*inner, *(case.body for case in cases))):
            return True
    return False


def refuses_none(interp: Interpreter, frame: Frame, state: State, value: Value, at: int) -> bool:
    """Return whether a path ends at a node since a value is None there; for an option that is one to search for."""
    if not path_condition.is_surely_none(state, value):
        return False
    interp.context.coverage.refuse_none(frame, state, at, value)
    return True


def only_raises(body: Sequence[ir.Stmt]) -> bool:
    """Say whether statements do nothing but raise an exception, with what is computed or printed for it."""
    return isinstance(body[-1], ir.Raise) and all(isinstance(node, ir.Assign | ir.ExprStmt) for node in body[:-1])


def refused(interp: Interpreter, frame: Frame, state: State, test: ir.Expr) -> Results:
    """
    Evaluate the condition of a side that only raises.

    Of two conditions that must not both hold, none is decided; a constructor runs again on what decides them.
    """
    if not isinstance(test, ir.BoolOp) or test.op != "and" or len(test.values) != _PAIR or _constructs(frame):
        return interp.evaluate(frame, state, test)
    results: Results = []
    for after, first in interp.evaluate(frame, state, test.values[0]):
        known = path_condition.truth(after, first)
        if known is not None:
            results.extend(interp.evaluate(frame, after, test.values[1]) if known else [(after, first)])
            continue
        both = after.fork()
        path_condition.learn(both, first, True)
        seconds = interp.evaluate(frame, both, test.values[1])
        is_plain = len(seconds) == 1 and seconds[0][0].clock == after.clock
        if is_plain and path_condition.truth(*seconds[0]) is None and exclusive.exclude(after, first, seconds[0][1]):
            results.append((after, Const(False)))
        else:
            path_condition.learn(after, first, False)
            results.append((after, first))
    return results


def _constructs(frame: Frame) -> bool:
    return frame.closure is not None and frame.closure.function.qualname.rpartition(".")[2] == "__init__"


def refuses(body: Sequence[ir.Stmt]) -> bool:
    """Say whether a function only raises, and not to leave what it does to a subclass: `NotImplementedError`."""
    if not only_raises(body) or not isinstance(body[-1], ir.Raise):
        return False
    error = body[-1].value
    name = error.func if isinstance(error, ir.Call) else error
    return isinstance(name, ir.Name) and name.id != abstract.OPEN


def handles(node: ir.Try, errors: frozenset[str]) -> bool:
    """
    Say whether an error of the framework in a `try` is what its author waits for: one statement, and a handler for it.

    A handler that raises again lets it through. Around several statements it is for whatever may go wrong in them.
    """
    if len(node.body) != 1 or not isinstance(node.body[0], ir.ExprStmt | ir.Assign | ir.AugAssign):
        return False
    return any(
        handler.type is not None and _types(handler.type) & errors and not _has_raise(handler.body)
        for handler in node.handlers
    )


def waits_for(interp: Interpreter, frame: Frame, state: State, context: ir.Expr, manager: Value) -> tuple[ir.Expr, ...]:
    """
    Return the classes that a `with` handles, as `suppress` does and as a test asserts what is to be raised.

    The manager is one of a library, or one of the program whose `__exit__` may return something true.
    """
    if not isinstance(context, ir.Call):
        return ()
    instance = state.instance(manager)
    if instance is not None and isinstance(instance.cls, ClassValue):
        leave = interp.lookup(state, instance.cls, "__exit__")
        if not isinstance(leave, Closure) or not any(map(_returns_something, leave.function.body)):
            return ()
        return tuple(context.args) or _named(leave.function.body, interp.context.default().framework.errors | _ANY)
    match context.func:
        case ir.Attr(_, _, name) if name in _ASSERTS:
            return tuple(context.args)
        case ir.Name(_, name) if name in _ASSERTS:
            own = isinstance(interp.evaluate(frame, state, context.func)[0][1], Closure)
            return () if own else tuple(context.args)
        case _:
            return ()


def _named(body: Sequence[ir.Stmt], errors: frozenset[str]) -> tuple[ir.Expr, ...]:
    """Return the classes, of some, that an `__exit__` names; any exception where it returns `True`."""
    parts = list(walk(body))
    if any(isinstance(part, ir.Return) and part.value is not None and _is_true(part.value) for part in parts):
        return (ir.Name(0, "Exception"),)
    return tuple(part for part in parts if isinstance(part, ir.Name | ir.Attr) and _types(part) & errors)


def _is_true(value: ir.Expr) -> bool:
    return isinstance(value, ir.Const) and value.value is True


def _returns_something(node: ir.Stmt) -> bool:
    """Return whether a statement may end a function with a value other than a constant that is false."""
    if isinstance(node, ir.Return):
        return node.value is not None and not (isinstance(node.value, ir.Const) and not node.value.value)
    inner = (part for part in (getattr(node, name, ()) for name in ("body", "orelse", "finalbody")) if part)
    return any(_returns_something(statement) for part in inner for statement in part)


def expects(classes: Sequence[ir.Expr], errors: frozenset[str]) -> bool:
    """Say whether classes that a `with` handles include an error of the framework."""
    return any(_types(named) & (errors | _ANY) for named in classes)


_ASSERTS = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress"})
_ANY = frozenset({"Exception", "BaseException"})


def _types(expr: ir.Expr) -> frozenset[str]:
    """Return the last names of the exception classes that an expression lists."""
    match expr:
        case ir.Name(_, name) | ir.Attr(_, _, name):
            return frozenset({name})
        case ir.Sequence(items=items):
            return frozenset[str]().union(*(_types(item) for item in items))
        case _:
            return frozenset()
