"""
Names and packages that are missing where a `try` handles that.

    try:
        profile                     # bound nowhere in the file: the handler runs
    except NameError:
        ...
    try:
        import fused_kernels        # who has it goes on, and who has not runs the handler
    except ImportError:
        ...
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Sequence

from inplace_lint.domain import traits
from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, ClassValue, Closure, Const, Ref, Tuple, Value
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Flow, Outcome, Outcomes, Raised
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

_NAMES = frozenset({"NameError", "UnboundLocalError"})
_SIMPLE = ir.ExprStmt | ir.Assign | ir.AugAssign | ir.Return
_SOMETIMES = ir.BoolOp | ir.IfExp | ir.Comprehension | ir.Lambda | ir.NamedExpr
_READS = ir.Name | ir.Attr | ir.Subscript | ir.Const | ir.Call
_BINDS = r"(?<![.\w]){0}\b\s*[=:,]|\b(?:as|def|class|global|import|for)\b[^\n]*\b{0}\b"
_BY_TEXT = re.compile(r"\b(?:exec|eval|globals)\b|^\s*from\s.*import\s*\*", re.MULTILINE)


def execute(
    interp: Interpreter, frame: Frame, state: State, body: Sequence[ir.Stmt], handled: Sequence[frozenset[str]]
) -> Outcomes:
    """Run the body of a `try`: where a handler waits for a missing name, up to what certainly reads one."""
    waits = any(named & _NAMES for named in handled)
    numbers = (i for i, node in enumerate(body) if waits and _reads_missing(interp, frame, state, node))
    place = next(numbers, None)
    if place is None:
        return interp.execute(frame, state, body)
    error = Raised(Builtin("UnboundLocalError"), frame.site(getattr(body[place], "at", 0)))
    outcomes: Outcomes = []
    for one in interp.execute(frame, state, body[:place]) if place else [Outcome(state)]:
        if one.flow is not Flow.NEXT:
            outcomes.append(one)
        elif _reads_missing(interp, frame, one.state, body[place]):
            outcomes.append(Outcome(one.state, Flow.RAISE, error=error))
        else:
            outcomes.extend(execute(interp, frame, one.state, body[place:], handled))
    return outcomes


def _reads_missing(interp: Interpreter, frame: Frame, state: State, node: ir.Stmt) -> bool:
    value = node.value if isinstance(node, _SIMPLE) else None
    if value is None or any(isinstance(part, _SOMETIMES) for part in walk(value)):
        return False
    return any(_is_missing(interp, frame, state, part.id) for part in walk(value) if isinstance(part, ir.Name))


def _is_missing(interp: Interpreter, frame: Frame, state: State, name: str) -> bool:
    """Check whether a name is not bound: a local one yet, or a global one anywhere in the file that is checked."""
    scope = state.heap[frame.env.id]
    assert type(scope) is Names
    if name in scope.values or hasattr(builtins, name) or frame.module != interp.context.path:
        return False
    if frame.closure is not None and name in frame.closure.function.local:
        return not state.has_trait(traits.COMPREHENSION, frame.env.id)
    text = interp.context.module(frame.module).source
    return not re.search(_BINDS.format(re.escape(name)), text) and not _BY_TEXT.search(text)


def nothing(node: ir.Try, frame: Frame, ran: Outcomes) -> bool:
    """
    Check whether the one statement of a `try` has certainly not raised: it returns or stores what is there.

    An item, and what Python's own functions return for it, as `int("4")`, is a constant.
    """
    statement = node.body[0]
    if len(node.body) > 1 or not isinstance(statement, ir.Assign | ir.Return) or statement.value is None:
        return False
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    name = targets[0].id if targets and isinstance(targets[0], ir.Name) else ""
    parts = [*walk(statement.value)]
    calls = [part for part in parts if isinstance(part, ir.Call)]
    if len(targets) > 1 or bool(targets) is not bool(name) or not all(isinstance(part, _READS) for part in parts):
        return False
    is_plain = not any(isinstance(part, ir.Call | ir.Subscript) for part in parts)
    kinds = (Const, Ref, Tuple, Closure, ClassValue) if is_plain else (Const,)
    if not all(_is_of_python(call.func) for call in calls):
        return False
    return bool(ran) and all(isinstance(_result(one, frame, name), kinds) for one in ran)


def is_skipped(interp: Interpreter, frame: Frame, state: State, node: ir.Try) -> bool:
    """
    Check whether the one statement of a `try` is for values of another kind, as what it asks first says.

        try:
            if hasattr(size, "ndim") and size.ndim == 0: ...     # of a number
        except Exception: ...
    """
    statement = node.body[0]
    if len(node.body) > 1 or not isinstance(statement, ir.If) or statement.orelse:
        return False
    test = statement.test
    first = test.values[0] if isinstance(test, ir.BoolOp) and test.op == "and" else test
    match first:
        case ir.Call(func=ir.Name(id="hasattr" | "isinstance")):
            return all(value == Const(False) for _, value in interp.evaluate(frame, state.fork(), first))
        case _:
            return False


def _result(outcome: Outcome, frame: Frame, name: str) -> Value | None:
    """Return what a statement returned, or has bound a name to; None where it has raised."""
    if outcome.flow is Flow.RETURN:
        return outcome.value
    scope = outcome.state.object(frame.env)
    return scope.values.get(name) if outcome.flow is Flow.NEXT and isinstance(scope, Names) else None


def _is_of_python(function: ir.Expr) -> bool:
    """Check whether a function is one of Python's own, by its name, or the one that reads an attribute of an object."""
    match function:
        case ir.Name(_, name):
            return hasattr(builtins, name)
        case ir.Attr(_, _, name):
            return name == "__getattribute__"
        case _:
            return False


def package(interp: Interpreter, frame: Frame, node: ir.Try) -> str:
    """Return the package that a `try` of a function begins to import, where that may not be installed; else nothing."""
    first = node.body[0]
    if frame.closure is None or not isinstance(first, ir.ImportFrom | ir.ImportName):
        return ""
    level, top = first.level if isinstance(first, ir.ImportFrom) else 0, first.module.partition(".")[0]
    known = level or top in interp.context.roots or top in sys.stdlib_module_names
    return "" if known or interp.context.project.resolve(frame.module, first.module, level) is not None else top
