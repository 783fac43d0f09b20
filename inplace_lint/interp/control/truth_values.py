"""What decides whether an object of the program is true: its own `__bool__` or `__len__`."""

from __future__ import annotations

from inplace_lint.domain.state import State
from inplace_lint.domain.values import Bound, Const, Dotted, Ref, Sym, Value
from inplace_lint.interp.expr import tensor_attributes
from inplace_lint.interp.expr.attributes import special
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.options import evaluated_keys
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import nodes as ir

_ASKED = (Ref, Dotted, Bound, Sym)  # what a class, the facts of a framework or other code may decide the truth of


def truth_of(interp: Interpreter, frame: Frame, state: State, value: Value, at: int) -> Results:
    """
    Return what decides whether a value is true.

    Of an object that is what its own `__bool__` or `__len__` returns; what a framework can call is true.
    """
    if type(value) is Dotted and interp.context.forms(value.name):
        return [(state, Const(value=True))]
    if type(value) is Ref and state.instance(value) is not None:
        for name in ("__bool__", "__len__"):
            own = special(interp, frame, state, value, name, (), at)
            if own is not None:
                return own
    if type(value) is Sym:
        return [(state, evaluated_keys.settled(interp, state, value))]
    return [(state, tensor_attributes.no_method(interp, state, value))]


def condition(interp: Interpreter, frame: Frame, state: State, expr: ir.Expr) -> Results:
    """Evaluate a test: an object of the program is what its own `__bool__` or `__len__` returns."""
    results = interp.evaluate(frame, state, expr)
    if len(results) == 1 and type(results[0][1]) not in _ASKED:
        return results
    at = getattr(expr, "at", 0)
    return [decided for after, value in results for decided in truth_of(interp, frame, after, value, at)]
