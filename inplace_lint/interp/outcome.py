"""
What evaluating an expression and executing a statement return: one entry for each feasible path.

    x = f() if flag else g()     # flag unknown: two results, each a state with the value that the expression has in it
    raise ValueError(x)          # one outcome: the path ends in a raise of this class
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from inplace_lint.core.event import Site
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Value

Results = list[tuple[State, Value]]


class Flow(Enum):
    """How control leaves a statement; compared by identity."""

    NEXT = "next"
    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"
    RAISE = "raise"


class Raised(Struct, frozen=True):
    """
    An exception on its way outward.

    `cls` is its class, None where that is not known; `value` is the object that a handler has bound to a name.
    """

    cls: Value | None
    site: Site
    value: Value | None = None


class Outcome(Struct):
    """A path after a statement: how control goes on, with what is returned, or the exception that is raised."""

    state: State
    flow: Flow = Flow.NEXT
    value: Value = NONE
    error: Raised | None = None


Outcomes = list[Outcome]


class Items(Struct, frozen=True):
    """
    What an iteration yields; `exact` when these are certainly all, in order, but for `left_out` similar modules.

    `asked` is the object of the program that a loop asks for each item in its turn, and the method; None for others.
    """

    items: tuple[Value, ...]
    exact: bool
    left_out: int = 0
    asked: tuple[Value, str] | None = None


def returned(outcome: Outcome) -> Value:
    """Return what a function returns on a path that ended or ran off its end."""
    return outcome.value if outcome.flow is Flow.RETURN else NONE


def goes_on(outcomes: Outcomes) -> bool:
    """Say whether nothing is raised on some path; paths that raise come last."""
    return bool(outcomes) and outcomes[0].flow is not Flow.RAISE


def taken(state: State, results: Results) -> Value | None:
    """Turn a state that others hold into that of the first result, and return its value; None if there is none."""
    for after, value in results[:1]:
        if after is not state:
            state.become(after)
        return value
    return None


def fullest_first(results: Results) -> Results:
    """Return what paths of a constructor made, those objects first that have the most attributes: others use these."""
    return sorted(results, key=lambda pair: 0 if (one := pair[0].instance(pair[1])) is None else -len(one.attrs))
