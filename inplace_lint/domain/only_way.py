"""
The only way from a loss to what is trained: which assumptions about unknown calls are certain.

    h = self.fc(x).sigmoid()     # saves `h`
    h += 1
    return self.head(h)          # unknown: if a gradient passes it, backward raises; if not, nothing trains `fc`

That a gradient passes an unknown call is certain where it has no other way from the loss to some leaf that requires
grad. That leaf could not be trained otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from inplace_lint.domain.heap import Tensor
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NodeId, RefId


def certain(
    state: State,
    starts: Collection[NodeId],
    number: NodeId,
    assumed: frozenset[str],
    *,
    asked: bool,
    elsewhere: frozenset[RefId] | None,
) -> frozenset[str]:
    """
    Return those of a breach's assumptions that are certain: that a gradient passes an unknown call.

    The breach is at a node that a backward from `starts` runs. `asked`: the program calls that backward itself. If not,
    what a function outside of the program returned is no loss as long as nothing that is trained is computed of it.
    `elsewhere` are the leaves that something else trains; None if all may be.
    """
    passes = {above for above, node in state.nodes.items() if node.passes and node.passes in assumed}
    if not passes or elsewhere is None:
        return frozenset()
    trained = _trained(state, _below(state, (number,))) - _trained(state, _below(state, starts, {number})) - elsewhere
    if not trained or not (asked or _feeds_training(state, starts, number)):
        return frozenset()
    on_the_way = passes - _below(state, (number,)).keys()
    found = {state.nodes[one].passes for one in on_the_way}
    for one in passes - on_the_way:
        if not trained <= _trained(state, _below(state, (number,), {one})):
            found.add(state.nodes[one].passes)
    return frozenset(found)


def plain(state: State, starts: Collection[NodeId]) -> frozenset[RefId]:
    """Return the leaves that a backward from `starts` reaches without unknown calls."""
    return _trained(state, _below(state, starts, [number for number, node in state.nodes.items() if node.passes]))


def _feeds_training(state: State, starts: Collection[NodeId], number: NodeId) -> bool:
    """Check whether a node leads to what is trained without calls of unknown functions, or to a layer beyond these."""
    free = {one for one, node in state.nodes.items() if node.free}
    near = _below(state, starts, free)
    if number in near:
        return True
    layers = [one for one in near if _trained(state, {one: None})]
    return number in _below(state, [into for one in layers for into in state.nodes[one].inputs])


def _below(state: State, starts: Iterable[NodeId], without: Collection[NodeId] = ()) -> dict[NodeId, None]:
    """Return the nodes that a backward from `starts` may run, those that were freed included."""
    found: dict[NodeId, None] = {}
    waiting = list(starts)
    while waiting:
        number = waiting.pop()
        if number not in found and number not in without:
            found[number] = None
            waiting.extend(state.nodes[number].inputs)
    return found


def _trained(state: State, nodes: Collection[NodeId]) -> frozenset[RefId]:
    """Return the leaves that require grad at some nodes."""
    found: set[RefId] = set()
    for number in nodes:
        for leaf in state.nodes[number].leaves:
            thing = state.heap.get(leaf)
            if isinstance(thing, Tensor) and thing.rg:
                found.add(leaf)
    return frozenset(found)
