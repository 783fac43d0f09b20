"""After a fork neither state sees what the other does, and both know all that was known before."""

from __future__ import annotations

from hypothesis import given

from tests.domain.scripts import known, run, started, steps


@given(steps(), steps(), steps())
def test_each_side_of_a_fork_knows_what_it_would_know_alone(before, mine, theirs):
    state = run(started(), before)
    twin = state.fork()
    run(state, mine)
    run(twin, theirs)
    assert known(state) == known(run(run(started(), before), mine))
    assert known(twin) == known(run(run(started(), before), theirs))


@given(steps(), steps(), steps())
def test_neither_sees_what_the_other_does_in_turn(before, mine, theirs):
    state = run(started(), before)
    twin = state.fork()
    for one, other in zip(mine, theirs, strict=False):
        untouched = known(twin)
        run(state, [one])
        assert known(twin) == untouched
        untouched = known(state)
        run(twin, [other])
        assert known(state) == untouched


@given(steps(), steps())
def test_a_fork_of_a_fork_is_a_fork(before, after):
    state = run(started(), before)
    grandchild = state.fork().fork()
    run(grandchild, after)
    assert known(state) == known(run(started(), before))


@given(steps(), steps())
def test_a_state_that_becomes_another_knows_what_that_knew(before, after):
    state = run(started(), before)
    other = run(state.fork(), after)
    expected = known(other)
    state.become(other)
    assert known(state) == expected
    assert state.trail is other.trail
