"""
Functions of compiled modules, by the stubs that lie beside these.

    def fused_add_(x: Tensor, other: Tensor) -> None: ...      # in my_ext/_C.pyi, where there is no my_ext/_C.py
    def width(x: Tensor) -> int: ...

A stub says of what kind the result is, and not what is written. Where names of functions mean something
(`Framework.names`), one that ends in an underscore is assumed to write to its first tensor.
"""

from __future__ import annotations

from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Closure, Dotted, Sym, Value
from inplace_lint.interp.call.unknown_calls import unknown_call
from inplace_lint.interp.context import Declared
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.intrinsics import operators
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.promises import kind_of
from inplace_lint.knowledge.op import Op, ReturnFact, WriteFact
from inplace_lint.knowledge.words import Result
from inplace_lint.workspace.import_resolver import STUB

_WRITES = "*_"


def is_stub(closure: Closure) -> bool:
    """Check whether a function is declared in a stub, which has no code of it."""
    return closure.function.slice.path.endswith(STUB)


def call(interp: Interpreter, frame: Frame, state: State, closure: Closure, arguments: Arguments, at: int) -> Results:
    """Call a function as its stub declares it."""
    function = closure.function
    path = function.slice.path
    node = interp.context.module(path).function_node(function.slice, function.qualname)
    returns = None if node is None else node.returns
    name = f"{path.removesuffix(STUB).replace('/', '.')}.{function.qualname}"
    written = _written(interp, function, returns)
    if written:
        assumed = frozenset({f"`{function.qualname}` writes to its argument `{written}`", operators.COUNTS})
        interp.context.operators[name] = Declared(_op(name, function, written, returns), assumed)
        return interp.apply_op(frame, state, name, arguments, at)
    results = unknown_call(interp, frame, state, Dotted(name), arguments, at)
    return [(after, _typed(value, returns)) for after, value in results]


def _typed(value: Value, returns: ir.Expr | None) -> Value:
    """Return an unknown result with the kind that its annotation promises."""
    if _is_none(returns):
        return NONE
    return Sym(value.id, kind_of(returns) or value.kind) if isinstance(value, Sym) else value


def _written(interp: Interpreter, function: ir.Function, returns: ir.Expr | None) -> str:
    """Return the parameter that a function writes to, as far as its name says; empty for none."""
    announces = _WRITES in interp.context.default().framework.names and function.qualname.endswith(_WRITES[1:])
    if not announces or not (_is_none(returns) or _is_tensor(returns)):
        return ""
    return next((one.name for one in function.params if _is_tensor(one.annotation)), "")


def _op(name: str, function: ir.Function, written: str, returns: ir.Expr | None) -> Op:
    """Return what a call does that writes to one argument, and returns nothing or that argument."""
    returned = ReturnFact(Result.VALUE) if _is_none(returns) else ReturnFact(written)
    writes, args = (WriteFact(written, counted=True),), operators.args_of(function)
    return Op(name, args, writes=writes, returns=(returned,))


def _is_none(annotation: ir.Expr | None) -> bool:
    return isinstance(annotation, ir.Const) and annotation.value is None


def _is_tensor(annotation: ir.Expr | None) -> bool:
    return kind_of(annotation) == "tensor"
