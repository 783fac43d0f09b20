"""What a path learns from a condition, also where it begins with it."""

from __future__ import annotations

from inplace_lint.domain import origins, traits
from inplace_lint.domain.state import State, Symbols
from inplace_lint.domain.values import NodeId, SymId
from inplace_lint.interp.control import path_condition


def test_a_side_that_a_path_begins_with_needs_no_nodes_of_the_run_before() -> None:
    """`if x.requires_grad:` is asked of a tensor with a history, and an entry point is run again for this side."""
    state = State(Symbols())
    value = state.symbols.sym((origins.UNKNOWN, "x"))
    asked = state.symbols.sym((origins.REQUIRES, value, (NodeId(8),)))
    path_condition.learn(state, asked, True)
    assert state.truth(asked.id) is True
    assert state.trait(traits.REQUIRES_GRAD, SymId(value.id)) is True
