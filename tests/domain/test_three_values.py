"""Yes, no and unknown: an answer is yes or no only where it is that however the unknown turns out."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inplace_lint.core.event import Site, Stale, Touch
from inplace_lint.domain import tape
from inplace_lint.domain.heap import Node, Save, Tensor, Write
from inplace_lint.domain.state import State, Symbols
from inplace_lint.domain.values import Const
from inplace_lint.knowledge.guard import Atom, Guard, Many, Not, Three, atoms, holds, parse
from tests.domain.scripts import NOTHING, PLACE

SITE = Site(PLACE)
NAMES = ("a", "b", "c", "d")
ATOMS = st.sampled_from(NAMES).map(lambda name: Atom("", (name,)))
GUARDS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        inner.map(Not), st.builds(Many, st.booleans(), st.lists(inner, min_size=1, max_size=3).map(tuple))
    ),
    max_leaves=8,
)
ANSWERS = st.fixed_dictionaries({name: st.sampled_from([True, False, None]) for name in NAMES})


class Answers:
    """An environment that answers bare names."""

    def __init__(self, known: dict[str, Three]) -> None:
        self.known = known

    def truth(self, atom: Atom) -> Three:
        return self.known[atom.args[0]]

    def compare(self, _atom: Atom, _op: str, _constant: object) -> Three:
        raise AssertionError


def answer(guard: Guard, known: dict[str, Three]) -> Three:
    return holds(guard, Answers(known))


def completions(known: dict[str, Three]):
    choices = [(True, False) if value is None else (value,) for value in known.values()]
    return (dict(zip(known, chosen, strict=True)) for chosen in itertools.product(*choices))


def in_python(guard: Guard, known: dict[str, Three]) -> bool:
    match guard:
        case Atom():
            return bool(known[guard.args[0]])
        case Not(operand):
            return not in_python(operand, known)
        case Many(every, operands):
            return (all if every else any)(in_python(one, known) for one in operands)
    raise AssertionError


@given(GUARDS, ANSWERS)
def test_a_decided_answer_is_right_however_the_unknown_turns_out(guard, known):
    told = answer(guard, known)
    for complete in completions(known):
        assert answer(guard, complete) is in_python(guard, complete)
        assert told is None or told is answer(guard, complete)


@given(GUARDS, ANSWERS)
def test_what_is_unknown_depends_on_something_unknown(guard, known):
    if answer(guard, known) is None:
        assert any(known[atom.args[0]] is None for atom in atoms(guard))


@given(GUARDS, ANSWERS)
def test_twice_the_opposite_is_the_same(guard, known):
    assert answer(Not(Not(guard)), known) is answer(guard, known)


@given(st.lists(GUARDS, min_size=1, max_size=3), ANSWERS)
def test_not_all_is_any_not(guards, known):
    some = tuple(Not(guard) for guard in guards)
    assert answer(Not(Many(every=True, operands=tuple(guards))), known) is answer(Many(False, some), known)


@given(st.lists(GUARDS, min_size=1, max_size=3), ANSWERS, st.booleans())
def test_the_order_of_parts_does_not_matter(guards, known, every):
    assert answer(Many(every, tuple(guards)), known) is answer(Many(every, tuple(reversed(guards))), known)


def spelled(guard: Guard) -> str:
    match guard:
        case Atom():
            return guard.args[0]
        case Not(operand):
            return f"not ({spelled(operand)})"
        case Many(every, operands):
            return (" and " if every else " or ").join(f"({spelled(one)})" for one in operands)
    raise AssertionError


@given(GUARDS, ANSWERS)
def test_a_guard_that_is_written_and_read_says_the_same(guard, known):
    assert answer(parse(spelled(guard)), known) is answer(guard, known)


def test_a_missing_guard_holds():
    assert holds(None, Answers({})) is True


@pytest.mark.parametrize("side", [True, False])
def test_a_condition_is_unknown_until_a_side_is_learned(side):
    state = State(Symbols())
    assert state.truth("c") is None
    twin = state.fork()
    state.learn("c", side)
    assert (state.truth("c"), twin.truth("c")) == (side, None)
    twin.learn("c", not side)
    assert state.merge(twin)
    assert state.truth("c") is None


@pytest.mark.parametrize(("rg", "raises"), [(True, True), (None, True), (False, False)])
def test_a_tensor_that_may_require_grad_is_walked_by_backward_like_one_that_does(rg, raises):
    state = State(Symbols())
    storage = state.new_storage()
    node = state.record(Node("exp", None, (), (Save(storage, 0, Touch("exp", SITE), 0, NOTHING),), NOTHING))
    state.write(storage, Write(Touch("add_", SITE), 0, True, 0, NOTHING))
    tape.backward(state, "torch", [Tensor(storage, rg=rg, leaf=False, nodes=(node,))], None, retain=False)
    assert [type(event) for event in state.events] == ([Stale] if raises else [])


@given(st.lists(st.sampled_from([0, 0.0, False, 1, 1.0, True, "", "1", None]), max_size=6))
def test_constants_are_equal_where_value_and_kind_are(values):
    for one, other in itertools.product(values, repeat=2):
        alike = type(one) is type(other) and one == other
        assert (Const(one) == Const(other)) is alike
        assert not alike or hash(Const(one)) == hash(Const(other))
