"""
Gradients that several nodes are given: an addition hands the gradient of its result on to both operands, uncopied.

    base = a * 1                 # node 1
    h = Scale.apply(b)           # node 2: its backward multiplies the gradient that it is given, in place
    (base + h).sum()             # node 3 hands one tensor to both; backward runs node 2 first, so that node 1 gets
                                 # what it left
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field

from inplace_lint.core.event import Altered, Refused, Site
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NodeId

_SHARED = "another operation is given the same gradient, as both operands of an addition are"


class _Gradient(Struct):
    """
    One tensor that backward computes: the `node` that made it, those that are given it, and by which one each is.

    `expanded`: its elements repeat those of another one.
    """

    node: NodeId
    given: dict[NodeId, NodeId] = field(default_factory=dict)
    expanded: bool = False


def report(
    state: State, framework: str, order: Sequence[tuple[NodeId, frozenset[str]]], starts: Collection[NodeId]
) -> None:
    """
    Report the gradients that a node, or a hook, writes while another node is still to use them.

    `order` are the nodes that backward runs, each with its assumptions. Who asks for the gradients of `starts` may use
    the one that he passes for other results as well.
    """
    writers = [(number, assumed) for number, assumed in order if state.nodes[number].alters is not None]
    if not writers:
        return
    users: dict[NodeId, set[NodeId]] = defaultdict(set)
    for number, _ in order:
        for source in state.nodes[number].inputs:
            users[source].add(number)
    gradients = _gradients(state, [number for number, _ in order], users)
    for number, assumed in writers:
        altering, own = state.nodes[number].alters, gradients[number]
        assert altering is not None
        why = state.nodes[number].assumptions | state.assumptions | assumed
        site, refused = _handing(state, own, number, users), altering.refused
        if own.expanded and refused is not None:
            origin = state.nodes[own.node].site
            state.report(Refused(framework, refused.check, refused.touch, origin, why))
        elif site is not None:
            state.report(Altered(framework, altering.write, why, site, altering.returned))
        elif own.node in starts and not users[own.node]:
            state.report(Altered(framework, altering.write, why | {_SHARED}, None, altering.returned))


def _gradients(state: State, order: Iterable[NodeId], users: Mapping[NodeId, set[NodeId]]) -> dict[NodeId, _Gradient]:
    """Return the gradient that each node is given; one that several nodes add up is a new tensor."""
    found: dict[NodeId, _Gradient] = {}
    for number in sorted(order, reverse=True):
        own = found.setdefault(number, _Gradient(number))
        for source in state.nodes[number].expands:
            if users.get(source) == {number}:
                found[source] = _Gradient(number, expanded=True)
        for source in state.nodes[number].hands:
            if source in users:
                own.given.setdefault(source, number)
                if len(users[source]) == 1:
                    found[source] = own
    return found


def _handing(state: State, gradient: _Gradient, writer: NodeId, users: Mapping[NodeId, set[NodeId]]) -> Site | None:
    """
    Return where the gradient that a node writes was handed to another one as well, which runs later.

    Where others add theirs to it before the write, they have made a new tensor. What the writer hands on itself, it
    does after its write.
    """
    for source, by in gradient.given.items():
        if source < writer != by and all(user <= writer for user in users[source] - {by}):
            return state.nodes[by].site
    return None
