"""Which statements raise errors or give up, told from their text: a path that raises ends."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Closure, Value
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir


def may_raise(interp: Interpreter, node: ir.If | ir.Function) -> bool:
    """Say whether an error may be raised by a statement, itself and not by what it calls."""
    known = interp.context.raising.get(id(node))
    if known is None or known[0] is not node:
        known = interp.context.raising[id(node)] = (
            node,
            _has_raise(node.body) or _has_raise(getattr(node, "orelse", ())),
        )
    return known[1]


def is_abstract(function: ir.Function) -> bool:
    """Say whether a function only says that a derived class has to define it."""
    last = function.body[-1]
    if len(function.body) > _WITH_DOCSTRING or not isinstance(last, ir.Raise) or last.value is None:
        return False
    error = last.value.func if isinstance(last.value, ir.Call) else last.value
    return isinstance(error, ir.Name) and error.id == "NotImplementedError"


_WITH_DOCSTRING = 2


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


def refuses(body: Sequence[ir.Stmt]) -> bool:
    """Say whether statements do nothing but raise an error, with what is said before it."""
    return isinstance(body[-1], ir.Raise) and all(isinstance(node, ir.Assign | ir.ExprStmt) for node in body[:-1])


def gives_up(node: ir.If) -> bool:
    """Say whether a statement is `if …: return`, with a constant or nothing."""
    last = node.body[-1]
    return isinstance(last, ir.Return) and not node.orelse and (last.value is None or isinstance(last.value, ir.Const))


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


def expects(
    interp: Interpreter, frame: Frame, state: State, context: ir.Expr, manager: Value, errors: frozenset[str]
) -> bool:
    """
    Return whether what stands inside a `with` is to raise an error of the framework, as a test asserts it.

    The manager is given the class of the error; it is one of a library, or its own `__exit__` may return what is true.
    """
    if not isinstance(context, ir.Call) or not any(_types(argument) & (errors | _ANY) for argument in context.args):
        return False
    instance = state.instance(manager)
    if instance is not None and isinstance(instance.cls, ClassValue):
        leave = interp.lookup(state, instance.cls, "__exit__")
        return isinstance(leave, Closure) and any(map(_returns_something, leave.function.body))
    match context.func:
        case ir.Attr(_, _, name):
            return name in _ASSERTS
        case ir.Name(_, name) if name in _ASSERTS:
            return not isinstance(interp.evaluate(frame, state, context.func)[0][1], Closure)
        case _:
            return False


def _returns_something(node: ir.Stmt) -> bool:
    """Return whether a statement may end a function with a value other than a constant that is false."""
    if isinstance(node, ir.Return):
        return node.value is not None and not (isinstance(node.value, ir.Const) and not node.value.value)
    inner = (part for part in (getattr(node, name, ()) for name in ("body", "orelse", "finalbody")) if part)
    return any(_returns_something(statement) for part in inner for statement in part)


_ASSERTS = frozenset({"raises", "assertRaises", "assertRaisesRegex", "suppress"})
_ANY = frozenset({"Exception", "BaseException"})


def _types(expr: ir.Expr) -> frozenset[str]:
    """Give the last names of the classes of errors that an expression lists."""
    match expr:
        case ir.Name(_, name) | ir.Attr(_, _, name):
            return frozenset({name})
        case ir.Sequence(items=items):
            return frozenset[str]().union(*(_types(item) for item in items))
        case _:
            return frozenset()
