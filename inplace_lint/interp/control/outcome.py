"""How a block of statements was left on one path: at its end, or by return, break, continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Value
from inplace_lint.interp.context import Program

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from inplace_lint.core.records import dataclass


@dataclass(slots=True)
class Outcome:
    """Where a path stands after a statement: `flow` is next, return, break or continue."""

    state: State
    flow: str = "next"
    value: Value = NONE


Outcomes = list[Outcome]


def limited(program: Program, outcomes: Outcomes) -> Outcomes:
    """Keep as many paths as a function may have."""
    if len(outcomes) > program.budget.width:
        program.budget.drop("paths")
        return outcomes[: program.budget.width]
    return outcomes
