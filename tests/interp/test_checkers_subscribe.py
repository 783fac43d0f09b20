"""Checkers listen to what evaluators announce: who imports a checker, who hears an announcement, and in which order."""

from __future__ import annotations

from types import FunctionType

import pytest

from inplace_lint.interp import assembly
from inplace_lint.interp.announcements import Listeners, to_all
from inplace_lint.interp.checkers import alias_query, escaped
from inplace_lint.interp.checkers.alias_query import AliasQuery
from inplace_lint.interp.checkers.opportunities import Opportunities
from tests.test_layers import MODULES, ours_of

ANNOUNCEMENTS = [*Listeners.__struct_fields__]
CHECKERS = "interp/checkers"


def listeners(**options):
    return assembly.subscribe(options.get("query"), options.get("spared"), opinions=options.get("opinions", False))


def heard(callable_) -> list[object]:
    """Return the listeners that an announcement calls, in order."""
    cells = callable_.__closure__ or () if isinstance(callable_, FunctionType) else ()
    several = [cell.cell_contents for cell in cells if isinstance(cell.cell_contents, tuple)]
    return list(several[0]) if several else [callable_]


def test_no_evaluator_imports_a_checker():
    importing = {
        module
        for module in MODULES
        if module.startswith("interp/") and not module.startswith(CHECKERS)
        for other in ours_of(module)
        if other.startswith(CHECKERS)
    }
    assert importing == {"interp/assembly"}


@pytest.mark.parametrize("announcement", ANNOUNCEMENTS)
def test_a_listener_is_named_after_its_announcement(announcement):
    for options in ({}, {"opinions": True, "query": AliasQuery(set()), "spared": Opportunities()}):
        for listener in heard(getattr(listeners(**options), announcement)):
            assert listener.__name__ == announcement
            assert listener.__module__.startswith("inplace_lint.interp.checkers.")


@pytest.mark.parametrize("announcement", ANNOUNCEMENTS)
def test_an_announcement_is_documented_with_what_it_is_made_with(announcement):
    assert f"* `{announcement}(" in (Listeners.__doc__ or "")


@pytest.mark.parametrize("announcement", ANNOUNCEMENTS)
def test_each_announcement_is_made_by_an_evaluator(announcement):
    made = [
        module
        for module, path in MODULES.items()
        if module.startswith("interp/") and not module.startswith((CHECKERS, "interp/announcements"))
        if f"listeners.{announcement}(" in path.read_text(encoding="utf-8")
    ]
    assert made != []


def test_listeners_are_called_in_the_order_in_which_they_are_subscribed():
    said: list[str] = []
    to_all(*(lambda word, name=name: said.append(f"{name} {word}") for name in ("first", "second")))("hears")
    assert said == ["first hears", "second hears"]


def test_a_single_listener_is_called_with_nothing_in_between():
    assert to_all(escaped.write) is escaped.write


def test_an_announcement_that_nobody_listens_to_does_nothing():
    assert to_all()("anything") is None


def test_who_wants_no_opinions_gets_none():
    assert escaped.write not in heard(listeners().write)
    assert escaped.write in heard(listeners(opinions=True).write)


def test_who_holds_memory_is_collected_only_where_a_query_listens():
    query = AliasQuery(set())
    assert listeners(query=query).attempt == query.attempt
    assert listeners().attempt == alias_query.attempt  # which only notes where something is written
