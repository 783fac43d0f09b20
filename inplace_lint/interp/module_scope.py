"""The scope of a module: its variables on one path."""

from __future__ import annotations

from inplace_lint.domain import traits
from inplace_lint.domain.heap import Names
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref


def module_env(state: State, path: str) -> Ref:
    """Return the scope of a module on this path, empty at first."""
    known: Ref | None = state.traits.get((traits.MODULE_SCOPE, path))  # as `trait`, without a call
    if known is not None:
        return known
    env = state.new(Names({}, {}))
    state.set_trait(traits.MODULE_SCOPE, path, env)
    return env
