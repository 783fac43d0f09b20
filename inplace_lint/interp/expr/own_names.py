"""
The names of a module, or the attributes of an object, as a mapping: `globals()`, `vars(x)` and `x.__dict__`.

    def get(name):
        return globals()[name]              # a registry without a dict

    class Options:
        def __init__(self, **options):
            self.__dict__.update(options)   # sets attributes
"""

from __future__ import annotations

from collections import OrderedDict, deque

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NAMES, NONE, Builtin, Const, ModuleValue, Ref, Value
from inplace_lint.interp.expr import environment
from inplace_lint.interp.interpreter import Interpreter


def mapping(owner: ModuleValue | Ref) -> Builtin:
    """Return the mapping of the names of a module of the project, or of the attributes of an object."""
    return Builtin(NAMES, owner)


def is_mapping(value: Value) -> bool:
    """Check whether a value is such a mapping."""
    return type(value) is Builtin and value.name == NAMES and type(value.receiver) in {ModuleValue, Ref}


def object_of(state: State, value: Value) -> Ref | None:
    """Return the object whose attributes, or whose modules, a mapping has; None if it is another value."""
    if type(value) is Ref:
        return state.trait(traits.PARTS_OF, value.id)
    return value.receiver if type(value) is Builtin and value.name == NAMES and type(value.receiver) is Ref else None


def item(interp: Interpreter, state: State, value: Value, key: Value) -> Value | None:
    """Return what a name is bound to in such a mapping; None if it is bound to nothing, or not known."""
    assert isinstance(value, Builtin)
    if not isinstance(key, Const) or not isinstance(key.value, str):
        return None
    if isinstance(value.receiver, ModuleValue):
        return environment.find(interp, state, value.receiver.path, key.value)
    instance = None if value.receiver is None else state.instance(value.receiver)
    return None if instance is None else instance.attrs.get(key.value)


def method(interp: Interpreter, state: State, value: Value, name: str, given: tuple[Value, ...]) -> Value:
    """Return the result of `get` or `__getitem__` on the names of a module; that of any other method is unknown."""
    found = item(interp, state, value, given[0]) if given and name in {"get", "__getitem__"} else None
    if found is not None:
        return found
    if name == "get" and given and isinstance(given[0], Const):
        return given[1] if len(given) > 1 else NONE
    return state.symbols.sym((origins.METHOD, name, value, given, state.next_id))


def write_back(state: State, owner: Ref, copy: Ref) -> None:
    """Give an object the attributes that a copy of its mapping has."""
    instance, names = state.instance(owner), state.object(copy)
    if instance is not None and isinstance(names, DictObject):
        attrs = {name: value for name, value in names.items.items() if isinstance(name, str)}
        state.put(owner, replace(instance, attrs=attrs, opaque=instance.opaque or not names.exact))


def of_contents(state: State, value: Ref, name: str) -> Builtin | None:
    """Return a method of the dict or list behind an object whose class derives from one."""
    inner = state.trait(traits.CONTENTS, value.id)
    kind = deque if inner is not None and isinstance(state.object(inner), ListObject) else OrderedDict
    none = inner is None or name == "__setattr__" or not hasattr(kind, name)
    return None if none else Builtin(name, inner)


def bound(state: State, value: Value, found: Value) -> Value:
    """Return what an attribute of a class is for an object; a method of `dict` is that of the dict behind it."""
    if type(found) is Builtin and found.receiver is None and found.name.startswith("dict."):
        return Builtin(found.name.removeprefix("dict."), state.contents(value))  # `__setattr__ = dict.__setitem__`
    return found
