"""Plainer arguments of entry points: unknown values in place of objects, tensors that require no grad."""

from __future__ import annotations

from msgspec.structs import replace

from inplace_lint.core.span import Slice
from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Sym, SymId, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.transfer import materialise
from inplace_lint.ir import nodes as ir


def without_objects(state: State, function: ir.Function, given: Arguments) -> Arguments:
    """Return arguments of a constructor with unknown values for the objects among them, which are no modules."""

    def unknown(name: str, value: Value) -> Value:
        number = option(state, function.slice, function.qualname, name)
        return Sym(number) if _is_object(state, value) else value

    names = [param.name for param in function.params[1:]]
    positional = tuple(map(unknown, names, given.positional))
    keywords = tuple((name, unknown(name, value)) for name, value in given.keywords)
    return replace(given, positional=(*positional, *given.positional[len(positional) :]), keywords=keywords)


def _is_object(state: State, value: Value) -> bool:
    instance = state.instance(value)
    return instance is not None and isinstance(instance.cls, ClassValue) and "training" not in instance.attrs


def without_history(interp: Interpreter, state: State, arguments: Arguments) -> None:
    """Replace the tensors among the arguments by leaves that require no grad."""
    for value in arguments.values:
        is_tensor = isinstance(value, Sym) and value.kind == "tensor"
        ref = materialise.materialise(interp, state, value) if is_tensor else None
        tensor = None if ref is None else state.tensor(ref)
        if ref is not None and tensor is not None:
            state.put(ref, replace(tensor, rg=False, leaf=True, why=""))


def option(state: State, slice_: Slice, owner: str, name: str) -> SymId:
    """Return the symbol of a parameter: of a function, or of a class whose fields are its parameters."""
    return state.symbols.sym((origins.PARAMETER, owner, name, slice_)).id
