"""States that differ in the sides of conditions alone become one, which knows what both knew; no others do."""

from __future__ import annotations

from hypothesis import given

from tests.domain.scripts import CHANGING, CONDITIONS, LEARNING, known, run, started, steps


def split(before, mine, theirs):
    state = run(started(), before)
    twin = state.fork()
    return run(state, mine), run(twin, theirs)


def sides(state) -> list[bool | None]:
    return [state.truth(condition) for condition in CONDITIONS]


@given(steps(), steps(LEARNING, 5), steps(LEARNING, 5))
def test_states_that_learned_different_sides_merge_and_differ_in_these_alone(before, mine, theirs):
    one, other = split(before, mine, theirs)
    expected = known(one)
    assert one.merge(other)
    assert {**known(one), "facts": None} == {**expected, "facts": None}


@given(steps(), steps(LEARNING, 5), steps(LEARNING, 5))
def test_a_merged_state_knows_no_side_that_one_of_the_two_did_not_take(before, mine, theirs):
    one, other = split(before, mine, theirs)
    taken = list(zip(sides(one), sides(other), strict=True))
    assert one.merge(other)
    for side, (left, right) in zip(sides(one), taken, strict=True):
        assert side is None or side == left == right


@given(steps(), steps(LEARNING, 5), steps(LEARNING, 5))
def test_the_order_of_merging_does_not_matter(before, mine, theirs):
    one, other = split(before, mine, theirs)
    again, first = split(before, mine, theirs)
    assert one.merge(other)
    assert first.merge(again)
    assert sides(one) == sides(first)


@given(steps())
def test_a_state_merges_with_its_fork_and_stays_what_it_was(before):
    one, other = split(before, [], [])
    expected = known(one)
    assert one.merge(other)
    assert known(one) == expected


@given(steps(), steps(CHANGING, 4), steps(LEARNING, 4))
def test_a_state_that_was_changed_is_not_taken_in_and_nothing_is_done(before, mine, theirs):
    one, other = split(before, mine, theirs)
    if known(one) == known(run(started(), before)):
        return  # what was done changed nothing, such as an assumption that was made before
    expected = known(one), known(other)
    assert not one.merge(other)
    assert not other.merge(one)
    assert (known(one), known(other)) == expected


def test_variables_of_a_call_may_differ_when_it_has_returned_and_nothing_else():
    for local in (False, True):
        one, other = split([], [], [])
        env = one.new_frame(one.heap[2])
        other.become(one.fork())
        one.bind(env, "x", one.heap[2].values["x"], local=local)
        assert not one.merge(other)
        assert one.merge(other, returned=True) is local
