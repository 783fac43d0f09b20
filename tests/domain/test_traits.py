"""What becomes of each trait where a path forks, and where the construction of an object is copied."""

from __future__ import annotations

import ast
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inplace_lint.domain import heap_templates, traits
from inplace_lint.domain.heap import ListObject, Tensor
from inplace_lint.domain.id_renaming import IdRenaming
from inplace_lint.domain.state import State
from inplace_lint.domain.traits import Lifetime, Owner, Trait
from inplace_lint.domain.values import Const, Ref, Tuple
from tests.domain.scripts import UNKNOWN, known, run, started, steps
from tests.test_layers import MODULES, nodes_of

DECLARED = {name: thing for name, thing in vars(traits).items() if isinstance(thing, Trait)}
OF_HEAP = {Owner.OBJECT, Owner.STORAGE}
NAMES = st.sampled_from(["", "weight", "hook"])
NEVER_GIVEN = 10**6  # no history makes that many objects or symbols


def some(*owners: Owner, copied: bool = True) -> st.SearchStrategy[Trait]:
    """Choose a trait with one of these owners that copies look at, or that they ignore."""
    lasting = [one for one in DECLARED.values() if one.lifetime is Lifetime.PATH and not one.derived]
    return st.sampled_from([one for one in DECLARED.values() if one.owner in owners and (one in lasting) is copied])


def key_of(number: int, name: str) -> object:
    """Return a key as traits have them: an id, or a tuple that starts with one."""
    return (number, name) if name else number


class Construction:
    """The construction of a list with a tensor in it, in a state with a history; `before` was there already."""

    def __init__(self, history) -> None:
        self.state: State = run(started(), history)
        self.before = self.state.new(ListObject(()))
        self.old_storage = self.state.new_storage()
        self.moment = heap_templates.mark(self.state)
        self.storage = self.state.new_storage()
        self.tensor = self.state.new(Tensor(self.storage, rg=True, leaf=True))
        self.made = self.state.new(ListObject((self.tensor, self.before)))

    def number(self, trait: Trait, *, new: bool = True) -> int:
        """Return the id of an owner of this trait, one that the construction made or one of before."""
        if trait.owner is Owner.STORAGE:
            return self.storage if new else self.old_storage
        if trait.owner is Owner.SYMBOL:
            made = range(self.tensor.id + 1)  # as many as make one with the id of the tensor, which is another thing
            return (
                [self.state.symbols.sym(("made here", count)).id for count in made][-len(UNKNOWN) - 1]
                if new
                else UNKNOWN[0].id
            )
        return self.tensor.id if new else self.before.id

    def values(self) -> list[object]:
        return [True, self.tensor, (self.made, self.before), Tuple((self.tensor, Const(1)))]

    def template(self) -> heap_templates.Template | None:
        return heap_templates.made_since(self.state, self.moment, self.made)


def traits_of(state: State) -> dict[object, object]:
    return dict(state.traits)


# -- declarations ------------------------------------------------------------------------------------------------------


def test_every_trait_is_declared_in_one_file():
    declaring = {
        module
        for module in MODULES
        for node in nodes_of(module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Trait"
    }
    assert declaring == {"domain/traits"}


def test_no_two_traits_have_one_name():
    names = [str(trait) for trait in DECLARED.values()]
    assert sorted(set(names)) == sorted(names)


@cache
def used() -> frozenset[str]:
    """Return the names and attributes that stand in any module but the one that declares the traits."""
    nodes = [node for module in MODULES if module != "domain/traits" for node in nodes_of(module)]
    attributes = (node.attr for node in nodes if isinstance(node, ast.Attribute))
    return frozenset((*attributes, *(node.id for node in nodes if isinstance(node, ast.Name))))


@pytest.mark.parametrize("name", DECLARED)
def test_a_declared_trait_is_set_or_asked_for(name):
    assert name in used()


def test_each_policy_is_that_of_some_trait():
    assert {(trait.owner, trait.lifetime) for trait in DECLARED.values()} >= {
        (Owner.OBJECT, Lifetime.PATH),
        (Owner.STORAGE, Lifetime.PATH),
        (Owner.SYMBOL, Lifetime.PATH),
        (Owner.WHOLE, Lifetime.PATH),
        (Owner.WHOLE, Lifetime.ROOT),
        (Owner.OBJECT, Lifetime.CALL),
    }


# -- copies ------------------------------------------------------------------------------------------------------------


@given(steps(), some(*OF_HEAP), NAMES, st.integers(0, 3), st.integers(0, 3))
def test_a_trait_of_what_was_made_is_copied_under_the_new_id_with_its_value_renamed(history, trait, name, first, last):
    there = Construction(history)
    number, values = there.number(trait), there.values()
    there.state.set_trait(trait, key_of(number, name), values[first])
    there.state.set_trait(trait, key_of(number, name), values[last])
    template = there.template()
    assert template is not None
    for _ in range(2):
        before = traits_of(there.state)
        copy = heap_templates.make(there.state, template)
        moved = IdRenaming(template.start, copy.id - there.made.id)
        added = {(trait, key_of(moved.number(number), name)): moved.thing(values[last])}
        assert traits_of(there.state) == before | added
        assert moved.number(number) != number


@given(steps(), some(*OF_HEAP), NAMES)
def test_a_trait_of_a_made_object_that_the_result_does_not_lead_to_is_not_copied(history, trait, name):
    there = Construction(history)
    apart = there.state.new_storage() if trait.owner is Owner.STORAGE else there.state.new(ListObject(())).id
    there.state.set_trait(trait, key_of(apart, name), True)
    template = there.template()
    assert template is not None
    assert template.traits == ()


@given(steps(), some(Owner.SYMBOL), NAMES)
def test_a_trait_of_an_unknown_that_was_made_is_ignored(history, trait, name):
    there = Construction(history)
    there.state.set_trait(trait, key_of(there.number(trait), name), True)
    template = there.template()
    assert template is not None
    assert template.traits == ()


@given(steps(), some(Owner.SYMBOL, *OF_HEAP), NAMES)
def test_a_trait_of_anything_older_bars_the_copy(history, trait, name):
    there = Construction(history)
    there.state.set_trait(trait, key_of(there.number(trait, new=False), name), True)
    assert there.template() is None


@given(steps(), some(Owner.WHOLE), st.sampled_from([None, Ref(99), ("slice", "name")]))
def test_a_trait_of_the_path_as_a_whole_bars_the_copy(history, trait, key):
    there = Construction(history)
    there.state.set_trait(trait, key, True)
    assert there.template() is None


@given(steps(), some(*Owner, copied=False), NAMES, st.booleans())
def test_a_derived_trait_and_one_of_a_call_or_an_entry_point_neither_is_copied_nor_bars(history, trait, name, new):
    there = Construction(history)
    there.state.set_trait(trait, key_of(there.number(trait, new=new), name), True)
    template = there.template()
    assert template is not None
    assert template.traits == ()


@given(steps(), some(*Owner), NAMES, st.booleans())
def test_a_trait_that_was_set_before_the_construction_is_none_of_its(history, trait, name, new):
    state = run(started(), history)
    state.set_trait(trait, key_of(state.next_id + 2 * new, name), True)
    moment = heap_templates.mark(state)
    template = heap_templates.made_since(state, moment, state.new(ListObject(())))
    assert template is not None
    assert template.traits == ()


# -- forks -------------------------------------------------------------------------------------------------------------


@given(steps(), some(*Owner) | some(*Owner, copied=False), st.integers(0, 9), NAMES)
def test_a_fork_knows_the_traits_of_before_and_none_that_the_other_side_sets(history, trait, number, name):
    state = run(started(), history)
    key, other = key_of(number, name), key_of(NEVER_GIVEN, name)
    state.set_trait(trait, key, "before")
    twin = state.fork()
    untouched = known(state)
    twin.set_trait(trait, key, "after")
    twin.set_trait(trait, other, "after")
    assert known(state) == untouched
    assert (state.trait(trait, key), twin.trait(trait, key)) == ("before", "after")
    assert (state.has_trait(trait, other), twin.has_trait(trait, other)) == (False, True)
    assert dict(twin.all_traits(trait)) == {**dict(state.all_traits(trait)), key: "after", other: "after"}
