"""
Dicts of a module that other files fill: what these put under a key is run when the key is looked up.

    LAYERS = {}                  # in registry.py, or `LAYERS = Registry()` with a dict inside of the object

    LAYERS[kind](dim)            # runs `@register("gated") class Gated` of blocks.py if `kind` is "gated"
"""

from __future__ import annotations

from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Ref, Sym, Value
from inplace_lint.interp.expr import environment
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.module_scope import module_env
from inplace_lint.workspace import registries
from inplace_lint.workspace.top_level import ANY


def filled(interp: Interpreter, state: State, value: Value, mapping: DictObject, key: Value) -> DictObject:
    """
    Return what a dict has after other files have put into it what they have under a key, if it is missing.

    Under a key that is not known they put all that they have, if that is little.
    """
    wanted = ANY if type(key) is Sym else key.value if isinstance(key, Const) else None
    if type(wanted) is not str or wanted in mapping.items or type(value) is not Ref:
        return mapping
    registry = state.trait(traits.REGISTRY, value.id)
    # While modules are run, they are not filled yet.
    if registry is None or interp.context.running or not registries.is_one(interp.context.project, registry):
        return mapping
    for path, item in registries.filling(interp.context.project, registry, interp.context.path, wanted):
        for name in item.binds:
            environment.find(interp, state, path, name)
        environment.run_once(interp, state, path, module_env(state, path), item)
        if wanted in _dict(state, value, mapping).items:
            break
    return _dict(state, value, mapping)


def _dict(state: State, value: Ref, mapping: DictObject) -> DictObject:
    found = state.object(value)
    return found if isinstance(found, DictObject) else mapping
