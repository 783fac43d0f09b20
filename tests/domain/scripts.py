"""
Random histories of a path: lists of steps, each of which changes a state through one of its own methods.

The same steps on equal states give equal states, so that what a state knows can be told from the steps that it took.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from msgspec import Struct

from inplace_lint.core.event import Lost, Site, Touch
from inplace_lint.core.span import Place, Slice
from inplace_lint.domain.heap import Instance, ListObject, Names, Node, Save, Tensor, Write
from inplace_lint.domain.state import State, Symbols
from inplace_lint.domain.values import Const, Dotted, Ref, Sym, Tuple, Value

PLACE = Place(Slice("a.py", 1, 9), 0)
NOTHING = frozenset[str]()
UNKNOWN = (Sym(0), Sym(1), Sym(2))
CONDITIONS = ("first", "second", "third")
NAMES = ("x", "y", "z")
CLASS = Dotted("torch.nn.Module")


@dataclass(frozen=True)
class Step:
    """One change: what is done, and three numbers that choose what it is done to."""

    kind: str
    which: int
    other: int
    size: int


def started() -> State:
    """Return a state with a name space, a tensor and three unknown values."""
    symbols = Symbols()
    for number in range(len(UNKNOWN)):
        symbols.sym(number)
    state = State(symbols)
    env = state.new(Names({}, {}))
    storage = state.new_storage()
    state.bind(env, "x", state.new(Tensor(storage, rg=True, leaf=False)))
    return state


def touch(step: Step) -> Touch:
    return Touch(f"op{step.size}", Site(PLACE))


def run(state: State, script: list[Step]) -> State:
    for step in script:
        STEPS[step.kind](state, step)
    return state


def a_ref(state: State, step: Step) -> Ref:
    refs = sorted(number for number, thing in state.heap.items() if not isinstance(thing, Names))
    return Ref(refs[step.which % len(refs)])


def a_storage(state: State, step: Step) -> int:
    return sorted(state.storages)[step.which % len(state.storages)]


def a_name(step: Step) -> str:
    return NAMES[step.other % 3]


def a_value(state: State, step: Step) -> Value:
    ref = a_ref(state, step)
    return (ref, Const(step.other), UNKNOWN[step.other % 3], Tuple((ref, Const(None))))[step.size % 4]


def _tensor(state: State, step: Step) -> None:
    state.new(Tensor(state.new_storage(), rg=(True, False, None)[step.size % 3], leaf=True))


def _view(state: State, step: Step) -> None:
    nodes = tuple(sorted(state.nodes)[:2])
    state.new(Tensor(a_storage(state, step), rg=True, leaf=False, base=a_ref(state, step), nodes=nodes))


def _list(state: State, step: Step) -> None:
    state.new(ListObject((a_value(state, step), a_ref(state, step)), exact=bool(step.size % 2)))


def _instance(state: State, step: Step) -> None:
    state.new(Instance(CLASS, {a_name(step): a_value(state, step)}, children=a_ref(state, step)))


def _attribute(state: State, step: Step) -> None:
    instances = [number for number, thing in state.heap.items() if isinstance(thing, Instance)]
    if instances:
        ref = Ref(instances[step.which % len(instances)])
        state.set_attribute(ref, a_name(step), a_value(state, step))


def _write(state: State, step: Step) -> None:
    state.write(a_storage(state, step), Write(touch(step), 0, bool(step.size % 2), 0, NOTHING))


def _record(state: State, step: Step) -> None:
    storage = a_storage(state, step)
    save = Save(storage, state.storages[storage].version, touch(step), state.clock, NOTHING)
    state.record(Node(f"op{step.size}", None, tuple(sorted(state.nodes)[-2:]), (save,), NOTHING))


def _free(state: State, step: Step) -> None:
    if state.nodes:
        state.free(sorted(state.nodes)[step.which % len(state.nodes)])


def _resolve(state: State, step: Step) -> None:
    made = Tensor(a_storage(state, step), rg=None, leaf=None, sure=False)
    state.tensor_of(UNKNOWN[step.which % 3], made)


STEPS: dict[str, Callable[[State, Step], object]] = {
    "tensor": _tensor,
    "view": _view,
    "list": _list,
    "instance": _instance,
    "attribute": _attribute,
    "write": _write,
    "record": _record,
    "free": _free,
    "resolve": _resolve,
    "bind": lambda state, step: state.bind(Ref(2), a_name(step), a_value(state, step)),
    "put": lambda state, step: state.put(a_ref(state, step), ListObject((a_value(state, step),))),
    "assume": lambda state, step: state.assume(f"{a_name(step)} is a tensor"),
    "report": lambda state, step: state.report(Lost("torch", touch(step), None, NOTHING)),
    "learn": lambda state, step: state.learn(CONDITIONS[step.which % 3], bool(step.other % 2)),
    "advance": lambda state, step: state.advance(step.size),
}
LEARNING = ("learn",)  # leaves everything but the sides of conditions as it was
CHANGING = tuple(kind for kind in STEPS if kind not in {"learn", "advance"})


def steps(kinds: tuple[str, ...] = tuple(STEPS), most: int = 12) -> st.SearchStrategy[list[Step]]:
    number = st.integers(0, 7)
    return st.lists(st.builds(Step, st.sampled_from(kinds), number, number, number), max_size=most)


# Identities: they say that something changed, not what.
_MARKS = {"trail", "lasting", "learned", "attached", "symbols"}


def known(state: State) -> dict[str, object]:
    """Return all that a state knows, in a form that later changes of the state do not reach."""
    found = {name: getattr(state, name) for name in State.__slots__ if name not in _MARKS}
    return {name: dict(part) if isinstance(part, dict) else part for name, part in found.items()}


def parts_of(thing: object) -> list[object]:
    """List an object and everything in it."""
    found, waiting = [], [thing]
    while waiting:
        part = waiting.pop()
        found.append(part)
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, tuple) and not isinstance(part, Ref):
            waiting.extend(part)
        elif isinstance(part, Struct):
            waiting.extend(getattr(part, name) for name in part.__struct_fields__)
    return found
