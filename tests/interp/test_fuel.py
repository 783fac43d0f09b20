"""The limits of the exploration: a context sets them back, and paths that raise take none of the width."""

from __future__ import annotations

import pytest

from inplace_lint.core.event import Site
from inplace_lint.core.span import Place, Slice
from inplace_lint.domain.state import State, Symbols
from inplace_lint.interp.fuel import PATHS_THAT_RAISE, STEPS_IN_CALLER, STEPS_IN_ROOT, Fuel
from inplace_lint.interp.outcome import Flow, Outcome, Raised, goes_on

CHANGES = (
    {"paths": 1},
    {"prefers": False},
    {"steps": 7},
    {"lazy": True, "shallow": True},
    {"listens": True, "raises": 2},
    {"paths": 2, "prefers": False, "steps": 9, "lazy": True, "shallow": True, "listens": True, "raises": 1},
)


def limits(fuel: Fuel) -> dict[str, object]:
    """List the fields of the limits."""
    return {name: getattr(fuel, name) for name in fuel.__struct_fields__}


@pytest.mark.parametrize("changes", CHANGES, ids="-".join)
def test_a_scope_sets_what_it_is_given_and_sets_it_back(changes: dict[str, int]) -> None:
    fuel = Fuel()
    before = limits(fuel)
    with fuel.scope(**changes):
        assert {name: getattr(fuel, name) for name in changes} == changes
        assert limits(fuel) != before
    assert limits(fuel) == before


def leave_early(fuel: Fuel) -> int:
    """Return from inside of two scopes."""
    with fuel.shared(2), fuel.scope(prefers=False):
        return fuel.width


def test_a_return_leaves_no_limit_changed() -> None:
    fuel = Fuel()
    before = limits(fuel)
    assert leave_early(fuel) == 2
    assert limits(fuel) == before


def test_an_error_leaves_no_limit_changed() -> None:
    fuel = Fuel()
    before = limits(fuel)
    with pytest.raises(KeyError), fuel.scope(paths=1, lazy=True):
        raise KeyError
    assert limits(fuel) == before


def test_steps_that_are_used_inside_of_a_scope_stay_used() -> None:
    fuel = Fuel(steps=5_000)
    with fuel.scope(paths=1):
        fuel.step()
    assert fuel.steps == 4_999


def test_steps_of_a_scope_are_its_own() -> None:
    fuel = Fuel(steps=5_000)
    with fuel.scope(steps=50):
        fuel.step()
        assert fuel.steps == 49
    assert fuel.steps == 5_000


def test_one_path_has_the_whole_width_and_none_has_no_width() -> None:
    fuel = Fuel()
    widths = []
    for paths in (0, 1, 2, 9):
        with fuel.shared(paths):
            widths.append(fuel.width)
    assert widths == [4, 4, 2, 1]


def test_sides_that_raise_are_followed_only_where_something_listens_and_few_of_them() -> None:
    fuel = Fuel()
    assert not fuel.follows_raise()
    with fuel.listening():
        assert [fuel.follows_raise() for _ in range(PATHS_THAT_RAISE + 1)] == [True] * PATHS_THAT_RAISE + [False]
        with fuel.listening():
            assert fuel.follows_raise()
        assert not fuel.follows_raise()
    assert not fuel.follows_raise()


def test_paths_that_raise_come_last_and_take_no_width() -> None:
    fuel = Fuel(paths=2)
    symbols = Symbols()
    error = Raised(None, Site(Place(Slice("a.py", 1, 2), 0), None))
    raised = [Outcome(State(symbols), Flow.RAISE, error=error) for _ in range(PATHS_THAT_RAISE + 1)]
    going = [Outcome(State(symbols)) for _ in range(3)]
    kept = fuel.limited([*raised, *going])
    assert kept == [*going[:2], *raised[:PATHS_THAT_RAISE]]
    assert fuel.counters["dropped_paths"] == 1
    assert goes_on(kept)
    assert not goes_on(raised)
    assert not goes_on([])


@pytest.mark.parametrize(("steps", "on_one"), [(STEPS_IN_ROOT, 4_000), (STEPS_IN_CALLER, 1_000)])
def test_the_last_steps_of_an_entry_point_are_for_one_path(steps: int, on_one: int) -> None:
    fuel = Fuel()
    fuel.start_root(steps=steps, paths=4)
    assert fuel.width == 4
    for _ in range(steps - on_one - 1):
        fuel.step()
    assert fuel.width == 2
    fuel.step()
    assert fuel.width == 1
