"""
The names of a module as a mapping: `globals()`, `vars(module)` and `module.__dict__`.

    def get(name):
        return globals()[name]      # a registry without a dict
"""

from __future__ import annotations

from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Builtin, Const, ModuleValue, Value
from inplace_lint.interp.expr import environment
from inplace_lint.interp.interpreter import Interpreter

_NAMES = "globals"


def mapping(path: str) -> Builtin:
    """Return the mapping of the names of a module of the project."""
    return Builtin(_NAMES, ModuleValue(path))


def is_mapping(value: Value) -> bool:
    """Check whether a value is the mapping of a module's names."""
    return type(value) is Builtin and value.name == _NAMES and type(value.receiver) is ModuleValue


def item(interp: Interpreter, state: State, value: Value, key: Value) -> Value | None:
    """Return what a name is bound to in such a mapping; None if it is bound to nothing, or not known."""
    assert isinstance(value, Builtin)
    assert isinstance(value.receiver, ModuleValue)
    if not isinstance(key, Const) or not isinstance(key.value, str):
        return None
    return environment.find(interp, state, value.receiver.path, key.value)


def method(interp: Interpreter, state: State, value: Value, name: str, given: tuple[Value, ...]) -> Value:
    """Return the result of `get` or `__getitem__` on such a mapping; that of any other method is unknown."""
    found = item(interp, state, value, given[0]) if given and name in {"get", "__getitem__"} else None
    if found is not None:
        return found
    if name == "get" and given and isinstance(given[0], Const):
        return given[1] if len(given) > 1 else NONE
    return state.symbols.sym((origins.METHOD, name, value, given, state.next_id))
