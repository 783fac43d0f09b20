"""
What a generator saves of a tensor after it has yielded it, and generators that nobody runs.

    steps = (y.add_(1) for _ in range(2))   # nothing reads `steps`: nothing is added

Other generators are run to their end before anything uses what they yield. A loop uses each item first:

    for y in blocks(x):     # `x = block(x); yield x`
        y += 1              # the next block saves `y` after this write
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from inplace_lint.domain import traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Value
from inplace_lint.interp.frame import Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import next_use
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.spelling import spells

_COLLECT = frozenset({"list", "sorted", "tuple"})  # these run a generator to its end


def runs_between(iterable: ir.Expr) -> bool:
    """Check whether a loop may run a generator that it calls between its turns."""
    return isinstance(iterable, ir.Call) and not any(spells(iterable, name) for name in _COLLECT)


def never_run(interp: Interpreter, frame: Frame, at: int) -> bool:
    """Check whether nothing asks for what a generator yields: it is dropped, or set to a variable that is not read."""
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


def move_behind_turn(state: State, item: Value, since: int, until: int) -> None:
    """Move what was saved of an item after it was yielded, between two clocks, behind the turn that has just run."""
    for ref, tensor in state.tensors_in(item):
        kept, storage = state.trait(traits.YIELDED_FIRST, ref.id), state.storages[tensor.storage]
        if kept is None or not since < kept.clock <= until or not any(w.clock > until for w in storage.writes):
            continue
        for number, node in list(state.nodes.items()):
            late = [save for save in node.saves if save.storage == tensor.storage and kept.clock < save.clock <= until]
            if late:
                moved = {save: replace(save, version=storage.version, clock=state.clock) for save in late}
                state.nodes[number] = replace(node, saves=tuple(moved.get(save, save) for save in node.saves))
