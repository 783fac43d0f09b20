"""Copies of objects under other ids: the same shape, no id in common with the original but those of before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inplace_lint.domain import heap_templates
from inplace_lint.domain.heap import Instance, ListObject, Tensor, Write
from inplace_lint.domain.id_renaming import IdRenaming, links_of
from inplace_lint.domain.values import Const, Ref
from tests.domain.scripts import CLASS, NOTHING, Step, known, parts_of, run, started, steps, touch

SHIFT = st.integers(0, 50)


def objects(script: list[Step]) -> list[object]:
    state = run(started(), script)
    return [*state.heap.values(), *state.storages.values(), *state.nodes.values()]


def ids_in(thing: object) -> list[int]:
    """List the ids in an object: those of refs, and of storages."""
    refs = [part.id for part in parts_of(thing) if isinstance(part, Ref)]
    return refs + [part.storage for part in parts_of(thing) if isinstance(part, Tensor)]


@given(steps(), st.integers(0, 20))
def test_to_move_by_nothing_changes_nothing(script, start):
    for thing in objects(script):
        assert IdRenaming(start, 0).thing(thing) == thing


@given(steps(), st.integers(0, 20), SHIFT)
def test_ids_of_before_mean_what_they_meant(script, start, shift):
    for thing in objects(script):
        renamed = IdRenaming(start, shift).thing(thing)
        assert [i for i in ids_in(renamed) if i <= start] == [i for i in ids_in(thing) if i <= start]
        if all(i <= start for i in ids_in(thing)) and not isinstance(thing, Tensor):
            assert links_of(renamed) == links_of(thing)


@given(steps(), st.integers(0, 20), SHIFT, SHIFT)
def test_one_move_after_another_is_the_sum_of_both(script, start, first, second):
    for thing in objects(script):
        in_two = IdRenaming(start + first, second).thing(IdRenaming(start, first).thing(thing))
        assert in_two == IdRenaming(start, first + second).thing(thing)


@given(steps(), st.integers(0, 20), SHIFT)
def test_a_renamed_object_leads_to_the_renamed_ends_of_its_links(script, start, shift):
    renaming = IdRenaming(start, shift)
    for thing in objects(script):
        moved = [Ref(renaming.number(one.id)) if isinstance(one, Ref) else one for one in links_of(thing)]
        assert links_of(renaming.thing(thing)) == moved


@given(st.integers(0, 20), SHIFT, st.sets(st.integers(0, 60)))
def test_no_two_ids_become_one_when_all_of_the_moved_are_new(start, shift, ids):
    """A copy goes behind all ids that there are: `shift` is at least what was made since `start`."""
    renaming = IdRenaming(start, max([shift, *(number - start for number in ids)]))
    moved = {number: renaming.number(number) for number in ids if number > start}
    assert len(set(moved.values())) == len(moved)
    assert not set(moved.values()) & ids


MAKING = ("tensor", "list", "instance", "write")


@given(steps(), steps(MAKING, 6))
def test_what_is_made_once_more_is_its_renamed_twin_and_shares_nothing_that_was_made(before, construction):
    state = run(started(), before)
    moment = heap_templates.mark(state)
    made = [state.new(Tensor(state.new_storage(), rg=True, leaf=True))]
    for step in construction:
        last = made[-1]
        thing = ListObject((last, made[0], Const(step.size))) if step.other % 2 else Instance(CLASS, {"a": last})
        made.append(state.new(thing))
    template = heap_templates.made_since(state, moment, made[-1])
    assert template is not None
    original = {number: state.heap[number] for number in (ref.id for ref in made)}
    copy = heap_templates.make(state, template)
    renaming = IdRenaming(template.start, copy.id - made[-1].id)
    for ref in made:
        if ref.id in dict(template.objects):
            assert state.heap[renaming.number(ref.id)] == renaming.thing(original[ref.id])
    assert {number: state.heap[number] for number in original} == original


def test_a_write_to_a_copy_is_none_to_what_it_was_copied_from():
    state = started()
    moment = heap_templates.mark(state)
    first = state.new(Tensor(state.new_storage(), rg=True, leaf=True))
    template = heap_templates.made_since(state, moment, first)
    assert template is not None
    second = heap_templates.make(state, template)
    state.write(state.tensor(second).storage, Write(touch(Step("write", 0, 0, 1)), 0, True, 0, NOTHING))
    versions = [state.storages[state.tensor(ref).storage].version for ref in (first, second)]
    assert versions == [0, 1]


@given(steps(), steps(("write", "put", "attribute", "bind", "record", "assume"), 4))
def test_what_can_be_made_once_more_changed_nothing_that_was_there_before(before, changes):
    state = run(started(), before)
    old = known(state)
    moment = heap_templates.mark(state)
    made = state.new(ListObject(()))
    run(state, changes)
    if heap_templates.made_since(state, moment, made) is not None:
        for table in ("heap", "storages", "nodes"):
            now = getattr(state, table)
            assert {number: now[number] for number in old[table]} == old[table]
        assert (state.events, state.assumptions) == (old["events"], old["assumptions"])
