"""
Enumerations of the program.

    class Mode(Enum):
        FAST = fast_impl        # `Mode.FAST` is an instance of `Mode` whose `value` is `fast_impl`

    Mode(fast_impl)             # looks up the member with this value

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
    """Check whether a class is an enumeration."""
    return any(isinstance(base, Dotted) and base.name in _BASES for base in interp.context.mro(cls))


def member(interp: Interpreter, state: State, cls: ClassValue, name: str, value: Value) -> Value:
    """Return the value of a class attribute that is read from the class: of an enumeration, the member."""
    if not isinstance(value, Ref | Tuple | Partial | Dotted | ClassValue) or not is_enum(interp, cls):
        return value
    key = (cls.slice, cls.name, value)  # names with the same value are one member
    known = state.trait(traits.MEMBER, key)
    if known is None:
        known = state.new(Instance(cls, {**dict.fromkeys(sorted(VALUES), value), "name": Const(name)}))
        state.set_trait(traits.MEMBER, key, known)
    return known


def construct(interp: Interpreter, state: State, cls: ClassValue, arguments: Arguments) -> Value | None:
    """Return the member with the value that is passed, or is passed itself; None if the class is no enumeration."""
    if not is_enum(interp, cls):
        return None
    value = arguments.positional[0] if arguments.positional else arguments.named("value")
    instance = None if value is None else state.instance(value)
    if value is not None and ((instance is not None and instance.cls is cls) or _has(interp, state, cls, value)):
        return value
    return state.symbols.sym((origins.MEMBER, cls.slice, cls.name, value))


def may_be(interp: Interpreter, state: State, cls: ClassValue, value: Const) -> bool | None:
    """Return False if a constant is certainly no member of a class, None if it may be one."""
    return None if is_enum(interp, cls) and _has(interp, state, cls, value) else False


def _has(interp: Interpreter, state: State, cls: ClassValue, value: Value) -> bool:
    scope = state.heap[interp.class_body(state, cls).id]
    return isinstance(scope, Names) and isinstance(value, Const) and value in scope.values.values()
