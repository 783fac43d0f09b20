"""The variables of a module on one path."""

from __future__ import annotations

from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref


def module_env(state: State, path: str) -> Ref:
    """Give the name space of a module on this path."""
    known = state.bindings.get(("module", path))
    if isinstance(known, Ref):
        return known
    env = state.new(Names({}, {}))
    state.attach(("module", path), env)
    return env
