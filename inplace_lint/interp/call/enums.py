"""
Enumerations of the program.

    class Mode(Enum):
        FAST = fast_impl        # `Mode.FAST` is an instance of `Mode` whose `value` is `fast_impl`

    Mode(fast_impl)             # looks up the member with this value
    Mode["FAST"]                # looks it up by its name

A member of a class without methods, all of whose values are constants, is that of an enumeration which Python makes of
the same names and values. IMPRECISE: one of a class that is also a text or number, or that has special methods only, is
the constant itself, which knows its class, so that members of two such enumerations may be equal.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import Instance, Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import (
    Bound,
    Builtin,
    ClassValue,
    Closure,
    Const,
    Dotted,
    Partial,
    Ref,
    Sym,
    Tuple,
    Value,
)
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.interp.pylib.constant_folding import OPERATORS

AUTO = Dotted("enum.auto")
_BASES = frozenset({"enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})
_FLAGS = frozenset({"enum.Flag", "enum.IntFlag"})
VALUES = frozenset({"_value_", "value"})


def is_enum(interp: Interpreter, cls: Value) -> bool:
    """Check whether a class is an enumeration."""
    return any(isinstance(base, Dotted) and base.name in _BASES for base in interp.context.mro(cls))


def _body(interp: Interpreter, state: State, cls: ClassValue) -> Mapping[str, Value]:
    """Return what the body of a class binds."""
    scope = state.heap[interp.class_body(state, cls).id]
    return scope.values if isinstance(scope, Names) else {}


class _Enum(enum.Enum):
    """The base of enumerations that are made of those of programs; their members are spelled as in the program."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class _Flag(enum.Flag):
    """The base of those whose members can be joined."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


_Make = Callable[[str, Sequence[tuple[str, object]]], type[enum.Enum]]
_PLAIN: Mapping[str, type[enum.Enum]] = {"enum.Enum": _Enum, "enum.Flag": _Flag}


def _made(interp: Interpreter, state: State, cls: ClassValue) -> type[enum.Enum] | None:
    """Return the enumeration that Python makes of a class of constants without methods; None for any other class."""
    known = interp.context.enumerations.get(id(cls))
    if known is None:
        found = _of_values(interp, state, cls, _body(interp, state, cls))
        known = interp.context.enumerations[id(cls)] = (cls, found)
    return known[1]


def _of_values(
    interp: Interpreter, state: State, cls: ClassValue, values: Mapping[str, Value]
) -> type[enum.Enum] | None:
    *own, base = interp.context.mro(cls) or (cls,)
    plain = _PLAIN.get(base.name) if isinstance(base, Dotted) else None
    named = {name: value for name, value in values.items() if not name.startswith("_")}
    if plain is None or not named or own != [cls] or cls.methods:
        return None
    found: dict[object, object] = {}
    for value in named.values():
        found[value] = _constant(state, value, found, flags=plain is _Flag)
    pairs = [(name, found[value]) for name, value in named.items()]
    try:
        return None if None in found.values() else cast("_Make", plain)(cls.name, pairs)
    except (TypeError, ValueError):  # the program raises it, too
        return None


def _constant(state: State, value: Value, found: Mapping[object, object], *, flags: bool) -> object:
    """Return the value of a member, of which those before it are found; None where it is not known."""
    if isinstance(value, Const):
        return value.value
    if value in found:
        return found[value]
    numbers = [number for number in found.values() if isinstance(number, int)]
    if _is_auto(value):
        return 1 << max(numbers, default=0).bit_length() if flags else max(numbers, default=0) + 1
    match state.symbols.key(value) if isinstance(value, Sym) else None:
        case (origins.BINARY, "|" | "&" | "^" as op, left, right) if left in found and right in found:
            return OPERATORS[op](found[left], found[right])
        case _:
            return None


def _is_auto(value: Value) -> bool:
    return isinstance(value, Partial) and value.function == AUTO


def _settled(interp: Interpreter, state: State, cls: ClassValue) -> dict[str, Value]:
    """Return what the body of an enumeration binds names to, with the values that Python gives to `auto()`."""
    values = _body(interp, state, cls)
    bases = {base.name for base in interp.context.mro(cls) if isinstance(base, Dotted | Builtin)}
    own = "_generate_next_value_" in cls.methods or "str" in bases
    if own or not any(_is_auto(value) for value in values.values()):
        return dict(values)
    flags, texts = bool(bases & _FLAGS), "enum.StrEnum" in bases
    found: dict[object, object] = {}
    settled: dict[str, Value] = {}
    for name, value in values.items():
        known = None if name.startswith("_") else _constant(state, value, found, flags=flags)
        found[value] = known
        settled[name] = Const(name.lower() if texts else known) if _is_auto(value) and known is not None else value
    return settled


def attribute(interp: Interpreter, state: State, value: Const, name: str) -> Value | None:
    """Return the name or the value of a member that is a constant; None for any other attribute."""
    if not isinstance(value.value, _Enum | _Flag):
        own = None if value.of is None or name != "name" else _name(interp, state, value.of, value)
        plain = state.symbols.sym((origins.ATTRIBUTE, value, name)) if own is None else Const(own)
        return plain if name == "name" else value if name in VALUES else None
    if name in {"name", "_name_"}:
        return Const(value.value.name)
    return Const(value.value.value) if name in VALUES else None


def method(interp: Interpreter, state: State, value: Value, name: str) -> Closure | None:
    """Return what the class of a member that is a text or a number says of an attribute; None of any other value."""
    cls = value.of if isinstance(value, Const) else None
    found = None if cls is None else interp.lookup(state, cls, name)
    return found if isinstance(found, Closure) else None


def lacks(interp: Interpreter, state: State, cls: ClassValue, name: str) -> bool:
    """Check whether a class certainly is an enumeration of constants that has no such attribute."""
    made = _made(interp, state, cls) if is_enum(interp, cls) else None
    return made is not None and not hasattr(made, name)


def member(interp: Interpreter, state: State, cls: ClassValue, name: str, value: Value) -> Value:
    """Return the value of a class attribute that is read from the class: of an enumeration, the member."""
    is_value = isinstance(value, Ref | Tuple | Partial | Dotted | ClassValue)
    if not (is_value or isinstance(value, Const | Sym)) or not is_enum(interp, cls):
        return value
    made = _made(interp, state, cls)
    if made is not None:
        return Const(made.__members__[name]) if name in made.__members__ else value
    if isinstance(value, Sym):
        return value
    settled = _settled(interp, state, cls).get(name, value) if _is_auto(value) else value
    if isinstance(settled, Const) and not _has_methods(interp, cls):
        return replace(settled, of=cls)
    key = (cls.slice, cls.name, value)  # names with the same value are one member
    known = state.trait(traits.MEMBER, key)
    if known is None:
        held = state.symbols.sym((origins.MEMBER, cls.slice, cls.name, name)) if _is_auto(settled) else settled
        known = state.new(Instance(cls, {**dict.fromkeys(sorted(VALUES), held), "name": Const(name)}))
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
    found = {name: value for name, value in _body(interp, state, cls).items() if not name.startswith("_")}
    return {
        name: member(interp, state, cls, name, value)
        for name, value in found.items()
        if name not in cls.methods and not isinstance(value, Closure)
    }


def item_of_class(
    interp: Interpreter, frame: Frame, state: State, cls: ClassValue, index: Value, at: int
) -> Results | None:
    """Evaluate `cls[index]`: a member by its name, or the class with parameters; None where that is unknown."""
    if is_enum(interp, cls):
        known = members(interp, state, cls).get(str(index.value)) if isinstance(index, Const) else None
        return None if known is None else [(state, known)]
    if "__class_getitem__" not in cls.methods:
        return [(state, cls)]
    own = interp.lookup(state, cls, "__class_getitem__")
    return None if own is None else interp.call(frame, state, Bound(cls, own), Arguments((index,)), at)


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
    made = _made(interp, state, cls)
    if (instance is not None and instance.cls is cls) or (made and isinstance(value, Const) and _is_of(made, value)):
        return value
    if made is not None and isinstance(value, Const) and value.value in made._value2member_map_:
        return Const(made(value.value))
    name = None if value is None else _name(interp, state, cls, value)
    if value is not None and name is not None:
        return members(interp, state, cls).get(name) or member(interp, state, cls, name, value)
    return state.symbols.sym((origins.MEMBER, cls.slice, cls.name, value))


def may_be(interp: Interpreter, state: State, cls: ClassValue, value: Const) -> bool | None:
    """Return whether a constant is a member of a class, where that is certain; None if it may be one."""
    made = _made(interp, state, cls) if is_enum(interp, cls) else None
    if made is not None:
        return _is_of(made, value)
    return None if is_enum(interp, cls) and _name(interp, state, cls, value) is not None else False


def _is_of(made: type[enum.Enum], value: Const) -> bool:
    return isinstance(value.value, made)


def _name(interp: Interpreter, state: State, cls: ClassValue, value: Value) -> str | None:
    """Return the first name that the body of an enumeration binds to a constant; None if it binds none."""
    if not isinstance(value, Const):
        return None
    return next((name for name, other in _settled(interp, state, cls).items() if other == value), None)
