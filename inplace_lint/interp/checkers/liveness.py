"""
Whether the program can still read an object: it cannot if only variables of calls that have returned lead to it.

    def update(w):
        kept = []
        kept.append(w.detach())     # gone when `update` returns
"""

from __future__ import annotations

from inplace_lint.domain import traits
from inplace_lint.domain.heap import Names
from inplace_lint.domain.id_renaming import links_of
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Ref, RefId
from inplace_lint.interp.frame import Frame


def is_dropped(frame: Frame, state: State, ref: Ref) -> bool:
    """Check whether all containers of an object are only held by variables of functions that have returned."""
    running = {frame.env.id, *(env.id for env in frame.outer)}
    lasting = {value.id for (trait, _), value in state.traits.items() if isinstance(value, Ref) and trait in _SCOPES}
    above = _holders(state)
    waiting, seen = [ref.id], {ref.id}
    while waiting:
        here = waiting.pop()
        holders = above.get(here, set())
        ends = here != ref.id and not holders and not isinstance(state.heap.get(here), Names)
        if here in running or here in lasting or ends:
            return False
        waiting.extend(holders - seen)
        seen |= holders
    return len(seen) > 1


_SCOPES = frozenset({traits.MODULE_SCOPE, traits.CLASS_SCOPE})


def _holders(state: State) -> dict[RefId, set[RefId]]:
    """Return for each object those that hold it."""
    found: dict[RefId, set[RefId]] = {}
    for number, thing in state.heap.items():
        for held in links_of(thing):
            if isinstance(held, Ref):
                found.setdefault(held.id, set()).add(number)
    return found
