"""
Enumerations of the program.

    class Mode(Enum):
        FAST = fast_impl        # `Mode.FAST` is an instance of `Mode` whose `value` is `fast_impl`

    Mode(fast_impl)             # looks up the member with this value
    Mode["FAST"]                # looks it up by its name

IMPRECISE: a member with a constant value is that constant itself where the class has no methods, so that members of two
such enumerations may be equal.
"""

from __future__ import annotations

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Instance, Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import ClassValue, Closure, Const, Dotted, Partial, Ref, Tuple, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.interpreter import Interpreter

_BASES = frozenset({"enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})
VALUES = frozenset({"_value_", "value"})


def is_enum(interp: Interpreter, cls: Value) -> bool:
    """Check whether a class is an enumeration."""
    return any(isinstance(base, Dotted) and base.name in _BASES for base in interp.context.mro(cls))


def member(interp: Interpreter, state: State, cls: ClassValue, name: str, value: Value) -> Value:
    """Return the value of a class attribute that is read from the class: of an enumeration, the member."""
    is_value = isinstance(value, Ref | Tuple | Partial | Dotted | ClassValue)
    if not (is_value or isinstance(value, Const)) or not is_enum(interp, cls):
        return value
    if not is_value and not _has_methods(interp, cls):
        return value
    key = (cls.slice, cls.name, value)  # names with the same value are one member
    known = state.trait(traits.MEMBER, key)
    if known is None:
        known = state.new(Instance(cls, {**dict.fromkeys(sorted(VALUES), value), "name": Const(name)}))
        state.set_trait(traits.MEMBER, key, known)
    return known


def _has_methods(interp: Interpreter, cls: ClassValue) -> bool:
    """Check whether an enumeration has methods of the program, and its members are not also texts or numbers."""
    order = interp.context.mro(cls)
    plain = all(isinstance(base, ClassValue) or base == Dotted("enum.Enum") for base in order)
    classes = [base for base in order if isinstance(base, ClassValue)]
    return plain and any(not name.startswith("_") for base in classes for name in base.methods)


def members(interp: Interpreter, state: State, cls: Value) -> dict[str, Value]:
    """Return the members of an enumeration by their names, in order; none for any other value."""
    if not isinstance(cls, ClassValue) or not is_enum(interp, cls):
        return {}
    scope = state.heap[interp.class_body(state, cls).id]
    assert isinstance(scope, Names)
    found = {name: value for name, value in scope.values.items() if not name.startswith("_")}
    return {
        name: member(interp, state, cls, name, value)
        for name, value in found.items()
        if name not in cls.methods and not isinstance(value, Closure)
    }


def named(interp: Interpreter, state: State, cls: Value, name: Value) -> Value | None:
    """Return the member of an enumeration with a name; None if there is none, and for any other value."""
    return members(interp, state, cls).get(str(name.value)) if isinstance(name, Const) else None


def are_members(interp: Interpreter, state: State, *values: Value) -> bool:
    """Check whether values are members of one enumeration that are objects, which are equal if they are the same."""
    classes = {instance.cls for value in values if (instance := state.instance(value)) is not None}
    return len(classes) == 1 and all(isinstance(value, Ref) for value in values) and is_enum(interp, classes.pop())


def construct(interp: Interpreter, state: State, cls: ClassValue, arguments: Arguments) -> Value | None:
    """Return the member with the value that is passed, or is passed itself; None if the class is no enumeration."""
    if not is_enum(interp, cls):
        return None
    value = arguments.positional[0] if arguments.positional else arguments.named("value")
    instance = None if value is None else state.instance(value)
    if instance is not None and instance.cls is cls:
        return value
    name = None if value is None else _name(interp, state, cls, value)
    if value is not None and name is not None:
        return member(interp, state, cls, name, value)
    return state.symbols.sym((origins.MEMBER, cls.slice, cls.name, value))


def may_be(interp: Interpreter, state: State, cls: ClassValue, value: Const) -> bool | None:
    """Return False if a constant is certainly no member of a class, None if it may be one."""
    return None if is_enum(interp, cls) and _name(interp, state, cls, value) is not None else False


def _name(interp: Interpreter, state: State, cls: ClassValue, value: Value) -> str | None:
    """Return the first name that the body of an enumeration binds to a constant; None if it binds none."""
    scope = state.heap[interp.class_body(state, cls).id]
    if not isinstance(scope, Names) or not isinstance(value, Const):
        return None
    return next((name for name, other in scope.values.items() if other == value), None)
