"""The fields of dataclasses of the program."""

from __future__ import annotations

from inplace_lint.domain.heap import Instance
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Const, Dotted, Tuple, Value
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir


def names(interp: Interpreter, cls: ClassValue) -> list[str]:
    """Return the names of the fields that a class has and inherits, in their order."""
    bases = (base for base in reversed(interp.context.mro(cls)) if isinstance(base, ClassValue))
    return list(dict.fromkeys(name for base in bases for name in _declared(interp, base)))


def _declared(interp: Interpreter, cls: ClassValue) -> list[str]:
    node = interp.context.definition(cls)
    if node is None:
        return []
    return [
        statement.target.id
        for statement in node.body
        if isinstance(statement, ir.Declare) and isinstance(statement.target, ir.Name)
    ]


def descriptions(interp: Interpreter, state: State, value: Value) -> Tuple | None:
    """Return what `dataclasses.fields` does for a dataclass or an object of one; None for anything else."""
    instance = state.instance(value)
    cls = value if instance is None else instance.cls
    if not isinstance(cls, ClassValue) or not cls.is_data:
        return None
    return Tuple(tuple(state.new(Instance(_FIELD, {"name": Const(name)})) for name in names(interp, cls)))


_FIELD = Dotted("dataclasses.Field")
