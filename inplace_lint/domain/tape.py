"""
Backward over the tape: which nodes it runs, which saved tensors these need, and which of those are stale.

    y = torch.relu(h)     # node 1 saves (storage of y, version 0)
    y += feat             # storage of y: version 1
    y.sum().backward()    # walks node 2 (sum), node 3 (+=), node 1: its save is stale

Mirrors `SavedVariable::unpack`: a version that differs raises. A write that is not counted changes the value silently:
`Untracked`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from inplace_lint.core.assumption import excludes_number, without_implied
from inplace_lint.core.event import Carried, Event, Lost, Reading, Recomputed, Refused, Site, Stale, Touch, Untracked
from inplace_lint.domain import handed_gradients, only_way, traits
from inplace_lint.domain.heap import Node, Save, Tensor, View, Write
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NodeId, Ref, RefId, StorageId

_NO_HISTORY = {View.DETACH, View.DATA, View.UNTRACKED, View.NO_GRAD, View.INFERENCE}

_Readings = dict[int, Reading | None]  # by the newest id at the time of a write


def saved(state: State) -> set[StorageId]:
    """Return the storages that nodes of the tape keep for backward."""
    return {save.storage for node in state.nodes.values() for save in node.saves}


def nodes_of(state: State, tensor: Tensor) -> tuple[NodeId, ...]:
    """
    List the nodes through which a gradient of this tensor flows.

    Where the framework rebases, the history of a view that autograd tracks includes what was recorded on its base since
    the view was created, such as a write through another view of the base.
    """
    if tensor.base is None or not tensor.follows or tensor.view in _NO_HISTORY:
        return tensor.nodes
    base = state.tensor(tensor.base)
    if base is None:
        return tensor.nodes
    return tensor.nodes + tuple(node for node in base.nodes if node not in tensor.nodes)


def reachable(state: State, starts: Iterable[NodeId]) -> dict[NodeId, frozenset[str]]:
    """
    Return the nodes that a backward from `starts` runs, each with the assumptions under which a gradient reaches it.

    Nodes that an earlier backward freed are left out. A node that is reachable without assumptions has none.
    """
    found: dict[NodeId, frozenset[str]] = {}
    waiting = [(node, frozenset[str]()) for node in starts if node not in state.freed]
    doubtful: list[tuple[NodeId, frozenset[str]]] = []
    while waiting or doubtful:
        if not waiting:
            waiting, doubtful = doubtful, []
        number, assumed = waiting.pop()
        if number in found:
            continue
        found[number] = assumed
        node = state.nodes[number]
        onward = assumed | {node.passes} if node.passes else assumed
        into = doubtful if node.passes else waiting
        into.extend((i, onward) for i in node.inputs if i not in found and i not in state.freed)
    return found


def leaves_of(given: Iterable[tuple[Ref, Tensor]]) -> tuple[RefId, ...]:
    """Return the leaves among some tensors, which receive a gradient in backward; for a view of a leaf, that leaf."""
    return tuple(
        ref.id if tensor.leaf or tensor.base is None else tensor.base.id
        for ref, tensor in given
        if tensor.rg and (tensor.leaf or not tensor.nodes)
    )


def doubts_of(given: Iterable[tuple[Ref, Tensor]]) -> frozenset[str]:
    """Return the assumptions under which those of some tensors require grad that come from outside of the tape."""
    return frozenset(t.why for _, t in given if t.rg is None and (t.made is None or not t.nodes))


def on_the_way(
    state: State, starts: Iterable[NodeId], inputs: Iterable[tuple[Ref, Tensor]]
) -> frozenset[NodeId] | None:
    """Return the nodes that a backward from `starts` runs for the gradients of `inputs` alone; None if unknown."""
    leaves: set[RefId] = set()
    ends: set[NodeId] = set()
    for ref, tensor in inputs:
        if not tensor.rg or not (tensor.nodes or tensor.leaf):
            return None
        ends.update(nodes_of(state, tensor))
        leaves.add(ref.id)
    found: set[NodeId] = set()
    for number in sorted(reachable(state, starts)):
        node = state.nodes[number]
        if node.passes or not leaves.isdisjoint(node.leaves) or any(i in found or i in ends for i in node.inputs):
            found.add(number)
    return frozenset(found) if leaves else None


def backward(
    state: State,
    framework: str,
    tensors: Iterable[Tensor],
    site: Site | None,
    *,
    retain: bool,
    inputs: Iterable[tuple[Ref, Tensor]] = (),
    handed: bool = False,
    elsewhere: frozenset[RefId] | None = frozenset(),
    trained: bool = False,
) -> frozenset[RefId]:
    """
    Run backward from these tensors: report every stale save, and free the nodes unless they are retained.

    `inputs` are the tensors whose gradients are computed; without any, all leaves. Return the leaves that already had
    a gradient, to which the new one was added; none where gradients are `handed` to the caller and not accumulated.
    `elsewhere`: the leaves that something else trains; None if all may be. `trained`: something is through `tensors`.
    """
    added, fresh, open_, tensors, known = set[RefId](), set[RefId](), list[Stale](), list(tensors), _Readings()
    _check_histories(state, framework, tensors)
    starts = [node for tensor in tensors if tensor.rg is not False for node in nodes_of(state, tensor)]
    way = on_the_way(state, starts, inputs)
    order = [(i, assumed) for i, assumed in _ordered(state, starts) if way is None or i in way]
    _check_order(state, framework, order, site, starts)
    asked, loss = tensors if site is not None else None, tensors if trained or site is not None else ()
    for number, assumed in order:
        node = state.nodes[number]
        _report_lost(state, node, assumed)
        for event, save in _breaches(state, framework, node, site):
            why = (event.assumptions | assumed) - _outside(state, number)
            sure = only_way.certain(state, starts, number, save, why, asked, elsewhere=elsewhere, loss=loss)
            located = _located(state, event, save, starts if way is None else (), known)
            open_ += _reported(state, replace(located, assumptions=why - sure))
        if not handed:
            had = {leaf for leaf in node.leaves if _had_gradient(state, leaf, fresh)}
            added |= frozenset() if assumed else had  # a step is taken to write what an unknown call may depend on
        _end(state, number, retain=retain)
    only_way.report_whichever(state, loss, starts, open_)
    return frozenset(added)


def _located(state: State, event: Event, save: Save | None, starts: Sequence[NodeId], known: _Readings) -> Event:
    """Add to a parameter that was written too early where what needs the old one is read after that."""
    if save is None or not isinstance(event, Stale | Untracked) or not event.write.param:
        return event
    write = next(one for one in state.storages[save.storage].writes if one.touch is event.write)
    if write.newest not in known:
        known[write.newest] = only_way.read_after(state, starts, write)
    return replace(event, read=known[write.newest])


def _outside(state: State, number: NodeId) -> frozenset[str]:
    """Return what is assumed of contexts in which a node was not recorded, such as that around backward."""
    return frozenset(
        sentence
        for sentence, (first, end) in state.all_traits(traits.RECORDED_IN)
        if number < first or (end is not None and number >= end)
    )


def _reported(state: State, event: Event) -> list[Stale]:
    """Report an event; return it if it is a stale save that assumes something."""
    state.report(event)
    return [event] if event.assumptions and isinstance(event, Stale) else []


def _ordered(state: State, starts: Iterable[NodeId]) -> list[tuple[NodeId, frozenset[str]]]:
    """Return the nodes that a backward runs, the last one first where one of them writes what others need after it."""
    found = reachable(state, starts)
    return sorted(found.items(), reverse=any(state.nodes[number].spoils for number in found))


def _end(state: State, number: NodeId, *, retain: bool) -> None:
    """Record that backward has run a node: what it writes then, and that it is used up unless it is retained."""
    for storage, write in state.nodes[number].spoils:
        state.write(storage, write)
    if not retain:
        state.free(number)


def _breaches(state: State, framework: str, node: Node, site: Site | None) -> Iterator[tuple[Event, Save | None]]:
    """Yield what is wrong when backward runs a node, with the save that it is about."""
    for save in node.saves:
        event = breach(state, framework, node, save, site)
        if event is not None:
            yield event, save
    if node.broken is not None:
        needs = node.assumptions | state.assumptions
        yield Refused(framework, node.broken.check, node.broken.touch, None, needs), None


def next_step(state: State, framework: str, tensors: Iterable[Tensor]) -> None:
    """Report the writes whose history the backward of a later step, from these tensors, runs into."""
    starts = [node for tensor in tensors if tensor.rg is not False for node in nodes_of(state, tensor)]
    _check_carried(state, framework, sorted(reachable(state, starts).items()), None, starts)


def _check_order(
    state: State,
    framework: str,
    order: Sequence[tuple[NodeId, frozenset[str]]],
    site: Site | None,
    starts: Sequence[NodeId],
) -> None:
    """Report gradients that are written while others need them, and the histories of an earlier step that are met."""
    handed_gradients.report(state, framework, order, starts if site is None else ())
    if site is not None and not any(isinstance(event, Carried) for event in state.events):
        _check_carried(state, framework, order, site, starts)  # the program called it, and no earlier one has ended it


def _check_carried(
    state: State,
    framework: str,
    order: Sequence[tuple[NodeId, frozenset[str]]],
    site: Site | None,
    starts: Sequence[NodeId],
) -> None:
    handed, found = state.trait(traits.HANDED, None), list[tuple[NodeId, Carried]]()
    for number, assumed in order:
        for earlier in state.nodes[number].inputs:
            write = state.nodes[earlier].write
            if write is not None and earlier in state.freed and _is_spent(state, earlier):
                why = state.nodes[number].assumptions | state.nodes[earlier].assumptions | state.assumptions | assumed
                if handed is not None and earlier < handed.node:
                    if handed.resets:
                        continue
                    why |= {handed.assumes}
                found.append((earlier, Carried(framework, write, site, why)))
    trains = bool(found) and only_way.trains_through(state, starts, [earlier for earlier, _ in found])
    for _, event in found:
        state.report(replace(event, trains=trains))


def _is_spent(state: State, start: NodeId) -> bool:
    """Return whether a backward that reaches this node certainly raises: it needs what an earlier one has freed."""
    waiting, seen = [start], set[NodeId]()
    while waiting:
        number = waiting.pop()
        if number not in seen:
            seen.add(number)
            node = state.nodes[number]
            if number in state.freed and any(save.used and not save.again for save in node.saves):
                return True
            waiting.extend(() if node.passes else node.inputs)
    return False


def is_used_up(state: State, number: NodeId) -> bool:
    """
    Return whether an earlier backward has run through a node, or through all that it was computed from.

    A leaf among its inputs still waits for its gradient: `x @ weight`, of an `x` that was trained through before.
    """
    node = state.nodes[number]
    if number in state.freed:
        return True
    return bool(node.inputs) and not node.leaves and all(source in state.freed for source in node.inputs)


def _had_gradient(state: State, leaf: RefId, fresh: set[RefId]) -> bool:
    """Record that a leaf has a gradient; return whether it had one before the backward that gives one to `fresh`."""
    if leaf in fresh:
        return False
    fresh.add(leaf)
    if state.trait(traits.HAS_GRADIENT, leaf):
        return True
    state.set_trait(traits.HAS_GRADIENT, leaf, True)
    return False


def _check_histories(state: State, framework: str, tensors: Iterable[Tensor]) -> None:
    """Report the tensors among those that backward starts from whose histories lack a write; views have their own."""
    for tensor in tensors:
        starts = tensor.rg and tensor.nodes and tensor.base is None
        missed = lost(state, framework, tensor, None) if starts else None
        if missed is not None:
            state.report(missed)


def _report_lost(state: State, node: Node, assumed: frozenset[str]) -> None:
    """Report the uses of values at the place of a node whose histories lack a write."""
    for missed in state.trait(traits.LOST, node.site) or () if node.site is not None else ():
        state.report(replace(missed, assumptions=missed.assumptions | node.assumptions | assumed))


def lost(state: State, framework: str, tensor: Tensor, read: Touch | None) -> Lost | None:
    """
    Return what a gradient through a tensor misses: a write while grad mode was off; None if there was none.

    The backward of a custom function is meant for what its forward wrote.
    """
    unseen = (write for write in state.storages[tensor.storage].writes if write.unseen)
    write = next((write for write in unseen if not _is_within(write.touch.site, tensor.made)), None)
    if write is None:
        return None
    return Lost(framework, write.touch, read, state.assumptions | write.assumptions | write.doubt)


def _is_within(site: Site | None, call: Touch | None) -> bool:
    """Check whether a site is in what a call runs."""
    while call is not None and site is not None:
        site = site.caller
        if site == call.site:
            return True
    return False


def breach(
    state: State, framework: str, node: Node, save: Save, site: Site | None
) -> Stale | Untracked | Recomputed | None:
    """Return the event for a saved tensor that was written since, with the first such write; None if it is intact."""
    storage = state.storages[save.storage]
    later = [write for write in storage.writes if write.clock > save.clock and not (write.moved and save.view)]
    counted = [write for write in later if write.counted]
    if storage.version != save.version and counted and save.checked:
        write = _clearest(counted)
        return Stale(framework, save.touch, write.touch, site, _needs(state, node, save, write))
    hidden = [write for write in later if not write.counted or not save.checked]
    if hidden and save.used:
        write = _clearest(hidden)
        needs = _needs(state, node, save, write)
        if save.again:
            return Recomputed(framework, save.touch, write.touch, site, needs)
        written = None if write.tensor is None else state.tensor(write.tensor)
        array = written is not None and written.view is View.UNTRACKED
        return Untracked(framework, save.touch, write.touch, site, needs | save.supposes, array=array)
    return None


def _clearest(writes: list[Write]) -> Write:
    """Return the first of the writes that need the fewest assumptions."""
    return min(writes, key=lambda write: (len(write.assumptions), write.clock))


def _needs(state: State, node: Node, save: Save, write: Write) -> frozenset[str]:
    # A doubt about sharing the storage matters only if it is not the same for the save and the write.
    doubt = (save.doubt ^ write.doubt) | set(filter(excludes_number, write.doubt))
    return without_implied(node.assumptions | save.assumptions | write.assumptions | doubt | state.assumptions)
