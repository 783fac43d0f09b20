"""
What a generator saves of a tensor after it has yielded it, and generators that nobody runs, or not to their end.

    steps = (y.add_(1) for _ in range(2))   # nothing reads `steps`: nothing is added

Other generators are run to their end before anything uses what they yield. A loop uses each item first:

    for y in blocks(x):     # `x = block(x); yield x`
        y += 1              # the next block saves `y` after this write
        break               # or there is no next block
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

from msgspec.structs import replace

from inplace_lint.domain import traits
from inplace_lint.domain.heap import ListObject, Save, Write
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, RefId, StorageId, Value
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results
from inplace_lint.ir import next_use
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.spelling import spells

Moment = TypeVar("Moment", Write, Save)

_COLLECT = frozenset({"list", "sorted", "tuple"})  # these run a generator to its end


def runs_between(iterable: ir.Expr) -> bool:
    """Check whether a loop may run a generator that it calls between its turns."""
    return isinstance(iterable, ir.Call) and not any(spells(iterable, name) for name in _COLLECT)


def when_run(state: State, iterable: Value) -> tuple[int, int] | None:
    """Return the first and the last time that a generator yielded which a loop asks for its items."""
    clocks = state.trait(traits.YIELDED_AT, iterable.id) if isinstance(iterable, Ref) else None
    return (clocks[0], clocks[-1]) if clocks else None


def note_yield(state: State, number: RefId) -> None:
    """Remember when a generator yielded; what follows is later."""
    state.set_trait(traits.YIELDED_AT, number, (*(state.trait(traits.YIELDED_AT, number) or ()), state.clock))
    state.clock += 1


def hand_on(state: State, number: RefId, made: Value) -> None:
    """Remember of what a generator expression made when it did so."""
    clocks = state.trait(traits.YIELDED_AT, number)
    if clocks and isinstance(made, Ref):
        state.set_trait(traits.YIELDED_AT, made.id, clocks)


def is_unused(interp: Interpreter, frame: Frame, at: int) -> bool:
    """Check whether nobody asks for what a comprehension makes: it is dropped, or its variables are not read."""
    if frame.dropped[:1] == (at,):
        return True
    body = interp.context.body(frame)
    if not next_use.drops(body, at, whole=True):
        return False
    if frame.closure is not None:
        return True
    names = next_use.names_set(body, at)
    text = interp.context.module(frame.module).source
    return all(len(re.findall(rf"\b{re.escape(name)}\b", text)) == 1 for name in names)


def end_turn(
    going: Iterable[State], left: Iterable[State], turn: tuple[int, int], clocks: tuple[int, int] | None
) -> None:
    """
    End the turn of so many, of a loop over a generator that ran between two clocks, on paths that go on or leave.

    Without clocks the loop is over something else, which needs nothing.
    """
    if clocks is None or clocks[0] == clocks[1]:
        return
    (at, turns), (since, until) = turn, clocks
    for state in left:
        yielded = _yielded_at(state, since, until)
        if len(yielded) == turns:
            _take_back(state, yielded[at - 1], until)
    for state in going:
        yielded = _yielded_at(state, since, until)
        if at <= len(yielded):
            _move(state, yielded[at - 1], (*yielded, until)[at], until)


def ask(state: State, value: Ref, left: int) -> None:
    """Move what a generator saved for the next item to the time when `next` asks for it; so many items are left."""
    clocks = state.trait(traits.YIELDED_AT, value.id) or ()
    at = len(clocks) - left
    if 0 < at < len(clocks):
        _move(state, clocks[at - 1], clocks[at], clocks[-1])


def _yielded_at(state: State, since: int, until: int) -> tuple[int, ...]:
    """Return when the generator that ran between two clocks has yielded its items, the outer one of several."""
    found = [at for _, at in state.all_traits(traits.YIELDED_AT) if since <= at[0] and at[-1] <= until]
    return max(found, key=lambda at: at[-1], default=())


def _move(state: State, after: int, before: int, until: int) -> None:
    """Move what a generator saved between two clocks behind what was written since it ended."""
    written = {
        number: sum(write.counted for write in storage.writes if write.clock > until)
        for number, storage in state.storages.items()
        if storage.writes and storage.writes[-1].clock > until
    }
    for number, node in list(state.nodes.items()) if written else ():
        late = {save for save in node.saves if save.storage in written and after < save.clock <= before}
        if late:
            saves = [_later(save, written, state.clock) if save in late else save for save in node.saves]
            state.nodes[number] = replace(node, saves=tuple(saves))


def _later(save: Save, written: dict[StorageId, int], clock: int) -> Save:
    return replace(save, version=save.version + written[save.storage], clock=clock)


def cut(interp: Interpreter, frame: Frame, at: int, results: Results) -> Results:
    """Return what the call of a generator gives where only `next` asks for it, so many times as the program says."""
    asked = _asked(interp, frame, at)
    for state, value in results if asked else ():
        inner = state.object(value)
        clocks = state.trait(traits.YIELDED_AT, value.id) if isinstance(value, Ref) else None
        if isinstance(value, Ref) and isinstance(inner, ListObject) and clocks and len(clocks) >= asked:
            _take_back(state, clocks[asked - 1], state.clock)
            state.put(value, replace(inner, items=inner.items[:asked]))
    return results


def _asked(interp: Interpreter, frame: Frame, at: int) -> int:
    """
    Return how often `next` asks for an item of a generator; 0 where anything else may, or a loop does.

    A variable that a file names besides only in calls of `next`, in lines as far to the right, is asked so many times.
    """
    body = interp.context.body(frame)
    nexts = [node for node in next_use.walk(body) if isinstance(node, ir.Call) and spells(node, "next") and node.args]
    if any(getattr(node.args[0], "at", None) == at for node in nexts):
        return 1
    names = next_use.names_set(body, at)
    if len(names) != 1:
        return 0
    name, text = re.escape(names[0]), interp.context.module(frame.module).source
    made = re.search(rf"^( *){name} = ", text, re.MULTILINE)
    asked = 0 if made is None else len(re.findall(rf"^{made[1]}(?! ).*\bnext\({name}[,)]", text, re.MULTILINE))
    return asked if len(re.findall(rf"\b{name}\b", text)) == asked + 1 else 0


def _earlier(one: Moment, by: int, until: int) -> Moment:
    """Return a write or save, which is later than a time, with a version that is less by so many writes."""
    return replace(one, version=one.version - by) if by and one.clock > until else one


def _take_back(state: State, since: int, until: int) -> None:
    """Take back what was written and saved between two clocks, as if it had not been run."""
    gone: dict[StorageId, int] = {}
    for number, storage in list(state.storages.items()):
        kept = [write for write in storage.writes if not since < write.clock <= until]
        if len(kept) < len(storage.writes):
            gone[number] = sum(write.counted for write in storage.writes) - sum(write.counted for write in kept)
            moved = tuple([_earlier(write, gone[number], until) for write in kept])
            state.storages[number] = replace(storage, version=storage.version - gone[number], writes=moved)
    for place, node in list(state.nodes.items()):
        saves = [save for save in node.saves if not since < save.clock <= until]
        left = tuple([_earlier(save, gone.get(save.storage, 0), until) for save in saves])
        if left != node.saves:
            state.nodes[place] = replace(node, saves=left)
