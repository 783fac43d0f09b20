"""
Enumerations: the members of a class are instances of it that have a value, and are given back for that value.

IMPRECISE: a member with a constant value is that constant itself, so that members of two enumerations may be equal.
"""

from __future__ import annotations

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Instance, Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Const, Dotted, Partial, Ref, Tuple, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter

_BASES = frozenset({"enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})
VALUES = frozenset({"_value_", "value"})


def is_enum(interp: Interpreter, cls: Value) -> bool:
    """Say whether a class is an enumeration."""
    return any(isinstance(base, Dotted) and base.name in _BASES for base in interp.context.mro(cls))


def member(interp: Interpreter, state: State, cls: ClassValue, name: str, value: Value) -> Value:
    """Give what an attribute in the body of a class is when it is read from the class."""
    if not isinstance(value, Ref | Tuple | Partial | Dotted | ClassValue) or not is_enum(interp, cls):
        return value
    key = (cls.slice, cls.name, value)  # one value, one member, under however many names
    known = state.trait(traits.MEMBER, key)
    if known is None:
        known = state.new(Instance(cls, {**dict.fromkeys(sorted(VALUES), value), "name": Const(name)}))
        state.set_trait(traits.MEMBER, key, known)
    return known


def construct(interp: Interpreter, state: State, cls: ClassValue, arguments: Arguments) -> Value | None:
    """Give the member that has a value, or is given itself; None for a class that is no enumeration."""
    if not is_enum(interp, cls):
        return None
    value = arguments.positional[0] if arguments.positional else arguments.named("value")
    instance = None if value is None else state.instance(value)
    if value is not None and ((instance is not None and instance.cls is cls) or _has(interp, state, cls, value)):
        return value
    return state.symbols.sym((origins.MEMBER, cls.slice, cls.name, value))


def may_be(interp: Interpreter, state: State, cls: ClassValue, value: Const) -> bool | None:
    """Say whether a constant is a member of a class: certainly not, or perhaps, which is None."""
    return None if is_enum(interp, cls) and _has(interp, state, cls, value) else False


def _has(interp: Interpreter, state: State, cls: ClassValue, value: Value) -> bool:
    scope = state.heap[interp.class_body(state, cls).id]
    return isinstance(scope, Names) and isinstance(value, Const) and value in scope.values.values()
