"""
What evaluation gives back: one entry for each feasible path.

    x = f() if flag else g()     # flag unknown: two results, each a state with the value that the expression has in it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Value

if TYPE_CHECKING:
    pass
else:
    pass

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from inplace_lint.core.records import dataclass

Results = list[tuple[State, Value]]


@dataclass(slots=True)
class Outcome:
    """Where a path stands after a statement: `flow` is next, return, break or continue."""

    state: State
    flow: str = "next"
    value: Value = NONE


Outcomes = list[Outcome]


@dataclass(frozen=True, slots=True)
class Items:
    """What an iteration gives; `exact` when these are certainly all, in order."""

    items: tuple[Value, ...]
    exact: bool


def returned(outcome: Outcome) -> Value:
    """Give what a function returns on a path that ended or ran off its end."""
    return outcome.value if outcome.flow == "return" else NONE
