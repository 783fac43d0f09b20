"""Functions of the program: how a definition becomes a value, and how arguments become variables."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.core.span import Slice
from inplace_lint.domain.heap import DictObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Closure, Sym, Tuple, Value
from inplace_lint.interp import symbolic_args
from inplace_lint.interp.frame import Arguments, Frame, Variable
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.ir import nodes as ir

_VAGUE = frozenset({"", "input"})
_PLAIN = frozenset({"number", "sequence", "str"})


def method(interp: Interpreter, state: State, cls: ClassValue, name: str, slice_: Slice) -> Value | None:
    """Give a method of a top-level class, lowering its slice when it is first asked for on this path."""
    key = ("method", cls.slice, name)
    known = state.bindings.get(key)
    if known is not None:
        return known
    node = interp.context.module(slice_.path).function_node(slice_, name.partition(".")[0])
    if node is None:
        return None
    frame = Frame(module_env(state, cls.module), cls.module, slice_)
    made: Value | None = None
    for after, value in interp.make_function(frame, state, node, cls)[:1]:
        if after is not state:
            state.become(after)
        made = value
        state.attach(key, value)
    return made


def bind(
    state: State, closure: Closure, arguments: Arguments, caller: Frame
) -> tuple[dict[str, Value], dict[str, frozenset[Variable]]] | None:
    """
    Give the variables that a call starts with, and through which variables of callers each is known.

    None when the arguments do not fit.
    """
    params = closure.function.params
    values: dict[str, Value] = {}
    passed: dict[str, frozenset[Variable]] = {}
    plain = [param for param in params if param.kind in {"plain", "positional-only"}]
    for position, value in enumerate(arguments.positional[: len(plain)]):
        values[plain[position].name] = value
        passed[plain[position].name] = caller.variables(arguments.exprs.get(position))
    extra = arguments.positional[len(plain) :]
    known = {param.name for param in params if param.kind in {"plain", "keyword-only"}}
    rest: dict[object, Value] = {}
    for name, value in arguments.keywords:
        if name in known and name not in values:
            values[name] = value
            passed[name] = caller.variables(arguments.exprs.get(name))
        else:
            rest[name] = value
    if not _complete(state, closure, values, arguments, extra, rest):
        return None
    _believe(params, values)
    kinds = {param.kind for param in params}
    if (extra and "var-positional" not in kinds) or (rest and "var-keyword" not in kinds and not arguments.unknown):
        return None
    return values, passed


def _believe(params: Sequence[ir.Param], values: dict[str, Value]) -> None:
    """Take an unknown argument for the number, text or container that the annotation of its parameter says it is."""
    for param in params:
        value = values.get(param.name)
        if type(value) is Sym and param.annotation is not None and value.kind in _VAGUE:
            kind = symbolic_args.kind_of(param.annotation)
            if kind in _PLAIN:
                values[param.name] = Sym(value.id, kind)


def _complete(
    state: State,
    closure: Closure,
    values: dict[str, Value],
    arguments: Arguments,
    extra: tuple[Value, ...],
    rest: dict[object, Value],
) -> bool:
    """Add the parameters that collect the rest and those that have defaults; False when one is left without a value."""
    defaults = dict(closure.defaults)
    for param in closure.function.params:
        if param.kind == "var-positional":
            values[param.name] = Tuple(extra, exact=not arguments.unknown)
        elif param.kind == "var-keyword":
            values[param.name] = state.new(DictObject(rest, exact=not arguments.unknown))
        elif param.name not in values:
            missing = defaults.get(param.name)
            if missing is None and not arguments.unknown:
                return False
            unknown = state.symbols.sym(("argument", param.name, state.next_id))
            values[param.name] = missing if missing is not None else unknown
    return True
