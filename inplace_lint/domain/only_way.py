"""
The only way from a loss to what is trained: which assumptions about unknown calls are certain.

    h = self.fc(x).sigmoid()     # saves `h`
    h += 1
    return self.head(h)          # unknown: if a gradient passes it, backward raises; if not, nothing trains `fc`

That a gradient passes an unknown call is certain where it has no other way from the loss to some leaf that requires
grad. That leaf could not be trained otherwise. Where the program runs backward itself, it is certain that the only
value from outside that the loss is computed of requires grad, since backward raises if nothing does, and so it is where
a module without parameters returns a loss; and that a network of unknown layers needs its parameters for the gradient
of what comes from another one, which the program detaches elsewhere, or which nothing else trains:

    critic(state, actor(state)).mean().backward()     # no other way leads to the weights of `actor`
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from inplace_lint.core.assumption import Assumption
from inplace_lint.core.event import Reading, Stale
from inplace_lint.core.span import Place
from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import BESIDE, Instance, Names, Node, Save, Tensor, Write
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, NodeId, RefId, SliceValue, Sym, SymId, Tuple, Value

_ARITHMETIC = frozenset({"+", "-", "*", "/", "**", "@"})


def certain(
    state: State,
    starts: Collection[NodeId],
    number: NodeId,
    save: Save | None,
    assumed: frozenset[str],
    asked: Sequence[Tensor] | None,
    *,
    elsewhere: frozenset[RefId] | None,
    loss: Sequence[Tensor] = (),
) -> frozenset[str]:
    """
    Return those of a breach's assumptions that are certain, such as that a gradient passes an unknown call.

    The breach is at a node that a backward from `starts` runs, and of one of its saves. `asked`: what the program
    itself calls that on. If it is None, what a library's function returned is no loss as long as nothing that is
    trained is computed of it.
    `elsewhere` are the leaves that something else trains; None if all may be. `loss` is what backward runs from, if
    certainly something is trained through it.
    """
    sure = _needed(state, state.nodes[number], asked=asked is not None) | _granted(state, loss, starts, number, save)
    sure |= frozenset(one for one in assumed if asked is not None and _is_of_trained(state, one))
    passes = {above for above, node in state.nodes.items() if node.passes and node.passes in assumed}
    if passes:
        passes &= _below(state, starts).keys()
    if not passes or elsewhere is None:
        return sure
    if not (asked is not None or _feeds_training(state, starts, number)):
        return sure
    below = passes & _below(state, (number,)).keys()
    sure |= _passed(state, starts, number, passes, elsewhere) | _needed_calls(state, starts, below, elsewhere)
    trained = _trained(state, _below(state, (number,))) - _trained(state, _below(state, starts, {number})) - elsewhere
    if not trained:
        return sure
    on_the_way = passes - below
    found = {state.nodes[one].passes for one in on_the_way}
    for one in passes - on_the_way:
        if not trained <= _trained(state, _below(state, (number,), {one})):
            found.add(state.nodes[one].passes)
    return sure | found


def _passed(
    state: State, starts: Collection[NodeId], number: NodeId, calls: Collection[NodeId], elsewhere: frozenset[RefId]
) -> frozenset[str]:
    """Return that a gradient passes unknown calls above a node, where something is only trained by what leads there."""
    certain, open_ = set[str](), set[str]()
    for call in calls:
        below = {into: _below(state, (into,)) for into in state.nodes[call].inputs}
        leading = [into for into, found in below.items() if number in found]
        if leading:
            others = _below(state, [*starts, *(into for into in below if into not in leading)], {call})
            only = _trained(state, _below(state, leading)) - _trained(state, others) - elsewhere
            (certain if only else open_).add(state.nodes[call].passes)
    return frozenset(certain - open_)


def _needed_calls(
    state: State, starts: Collection[NodeId], calls: Collection[NodeId], elsewhere: frozenset[RefId]
) -> frozenset[str]:
    """
    Return that a gradient passes unknown calls that returned one tensor, where nothing else leads to something trained.

        out = mesh.spread(self.linear(x))    # without a gradient nothing trains `linear`,
        return out.exp() + out               # whichever of the two is looked at
    """
    trained = _trained(state, _below(state, starts)) - elsewhere if calls else frozenset[RefId]()
    certain, open_ = set[str](), set[str]()
    for call in calls:
        is_needed = not trained <= _trained(state, _below(state, starts, {call})) and _returned_tensor(state, call)
        (certain if is_needed else open_).add(state.nodes[call].passes)
    return frozenset(certain - open_)


def _returned_tensor(state: State, call: NodeId) -> bool:
    """Check whether an unknown call returned a tensor of which nothing was taken for a part of several."""
    results = {number for number, node in state.all_traits(traits.CALL_NODE) if node == call}
    if not results or any(state.tensor(Sym(number)) is None for number in results):
        return False
    return not any(origins.is_part(key, results) for key in state.symbols.keys)


def _granted(
    state: State, loss: Sequence[Tensor], starts: Iterable[NodeId], number: NodeId, save: Save | None
) -> frozenset[str]:
    """
    Return the assumption that the only source of a loss requires grad.

    Of several, one does: where all of them lead to a node, that it requires grad is certain. Beside what a network
    of unknown layers returned, a part of an argument is data: `for x, y in loader: net(x) - y`.
    """
    found = _sources(state, loss, starts)
    sources = [one for one in found if isinstance(one, Assumption)]
    data = [one for one in sources if origins.is_in_argument(state.symbols.keys, one.of)]
    others = [one for one in sources if one not in data]
    if data and len(others) == 1 and origins.called(state.symbols.keys[others[0].of]) is not None:
        sources = others
        found -= frozenset(data)
    return frozenset(sources) if len(found) == 1 else _shared(state, number, save, found)


def _sources(state: State, loss: Sequence[Tensor], starts: Iterable[NodeId]) -> frozenset[str]:
    """Return the assumptions that the sources of a loss require grad; none where something else is trained as well."""
    found: frozenset[str] = frozenset()
    if [tensor.rg for tensor in loss] != [None]:
        return found
    opaque = {number for number, node in state.nodes.items() if node.fed is not None}
    for node in (state.nodes[number] for number in _below(state, starts, opaque)):
        found |= frozenset(doubt for doubt in node.doubts if not _is_known_to_have_none(state, doubt))
        if node.passes or node.leaves:
            return frozenset()
    return found


def _is_known_to_have_none(state: State, doubt: str) -> bool:
    """Check whether the value that an assumption is about was found to have no gradient later: an index, a label."""
    return isinstance(doubt, Assumption) and state.has_trait(traits.NO_GRADIENT, SymId(doubt.of))


def _shared(state: State, number: NodeId, save: Save | None, sources: frozenset[str]) -> frozenset[str]:
    """
    Return the assumptions of a node that all sources of a loss lead to, but those that its save has.

        error = x - target                    # requires grad, whichever of the two does
        loss = (error * error).mean()         # keeps `error` if `error` requires grad

    What is kept for the gradient of an operand is certain as well if all sources lead to that operand.
    """
    node, wanted = state.nodes[number], _operands(state, sources)
    if not sources or not wanted <= _doubted(state, (number,)):
        return frozenset()
    if save is None:
        return node.assumptions
    if save.asks and wanted <= _doubted(state, save.asks):
        return node.assumptions | save.assumptions
    return node.assumptions - save.assumptions


def _doubted(state: State, numbers: Iterable[NodeId]) -> frozenset[str | SymId]:
    """Return the unknown values of which one requires grad, if these nodes are to have a gradient."""
    return _operands(state, frozenset().union(*(state.nodes[node].doubts for node in _below(state, numbers))))


def report_whichever(state: State, loss: Sequence[Tensor], starts: Iterable[NodeId], found: Sequence[Stale]) -> None:
    """
    Report without their assumption those events that are at one write, and of which one is real, whatever is trained.

        a, b = edges(x), edges(y)     # `edges` overwrites what it saved
        return (a - b).abs().mean()   # a loss: `x` requires grad, or `y`

    `found` are the events of the backward of `loss` that assume something.
    """
    sources = _operands(state, _sources(state, loss, starts)) if len(found) > 1 else frozenset()
    at: dict[Place, list[Stale]] = {}
    for event in found if sources else ():
        if len(event.assumptions) == 1:
            at.setdefault(event.write.site.place, []).append(event)
    for events in at.values():
        if sources <= _operands(state, frozenset().union(*(event.assumptions for event in events))):
            for event in events:
                state.report(replace(event, assumptions=frozenset()))


def _operands(state: State, assumed: frozenset[str]) -> frozenset[str | SymId]:
    """Return the unknown values of which one requires grad where one of these assumptions holds."""
    computed = [SymId(one.of) for one in assumed if isinstance(one, Assumption)]
    return frozenset((*(one for one in assumed if not isinstance(one, Assumption)), *_computed_of(state, computed)))


def _computed_of(state: State, waiting: list[SymId]) -> set[SymId]:
    """Return the unknown values that some are computed of by arithmetic, or of which they are slices."""
    found: set[SymId] = set()
    while waiting:
        number = waiting.pop()
        match state.symbols.keys[number]:
            case (origins.BINARY, str(operator), left, right) if operator in _ARITHMETIC:
                waiting.extend(one.id for one in (left, right) if isinstance(one, Sym) and one.kind != "number")
            case (origins.UNARY, "-", Sym(inner)) | (origins.ITEM, Sym(inner), SliceValue()):
                waiting.append(inner)
            case (origins.ITEM, Sym(inner), Tuple(parts)) if any(isinstance(part, SliceValue) for part in parts):
                waiting.append(inner)
            case _:
                found.add(number)
    return found


def _needed(state: State, node: Node, *, asked: bool) -> frozenset[str]:
    """Return the assumptions of an opaque module that are certain, as what it was called on requires grad."""
    certain = any(_requires_grad(state, value, asked=asked) for value in node.fed or ())
    return node.assumptions if certain else frozenset()


def _requires_grad(state: State, value: Value, *, asked: bool) -> bool:
    """
    Check whether a value requires grad: it is known to, or what it was computed of is.

    So is what comes from a call whose results the program detaches, and, where the program runs backward (`asked`), the
    result of a module that an optimizer owns and that is called at one place.
    """
    tensor = state.tensor(value)
    if tensor is not None and tensor.rg:
        return True
    sources = _operands_below(state, tensor) if tensor is not None else set[SymId]()
    if isinstance(value, Sym):
        sources.add(value.id)
    if asked and any(_is_called_once(state, weight) for weight in _weights_behind(state, tensor, sources)):
        return True
    return any(_is_detached(state, one) for one in sources)


def _operands_below(state: State, tensor: Tensor) -> set[SymId]:
    """Return the unknown values that a tensor was computed of by operations alone, each of which may require grad."""
    opaque = _unfollowed(state)
    doubts = frozenset[str]().union(*(state.nodes[number].doubts for number in _below(state, tensor.nodes, opaque)))
    found = {SymId(one.of) for one in doubts if isinstance(one, Assumption)}
    if tensor.base is not None and tensor.view not in BESIDE:
        found.update(number for number, ref in state.all_traits(traits.TENSOR) if ref == tensor.base)
    return found


def _unfollowed(state: State) -> set[NodeId]:
    """Return the nodes of calls of which the results may be anything: of opaque modules, and of unknown functions."""
    return {number for number, node in state.nodes.items() if node.fed is not None or node.passes}


def _is_of_trained(state: State, assumed: str) -> bool:
    """Check whether an assumption is about what a network that an optimizer owns returned, at its only call."""
    of = (SymId(assumed.of),) if isinstance(assumed, Assumption) else ()
    return any(_is_called_once(state, weight) for weight in _weights_behind(state, None, of))


def _weights_behind(state: State, tensor: Tensor | None, sources: Collection[SymId]) -> frozenset[RefId]:
    """
    Return the trained weights of the opaque modules of whose results a value was computed by operations alone.

    Of several results of a call, or what a method of a result returns, each may be without a gradient.
    """
    nodes = () if tensor is None else tensor.nodes
    near = {*nodes, *(into for one in _below(state, nodes, _unfollowed(state)) for into in state.nodes[one].inputs)}
    for one in _computed_of(state, list(sources)):
        calls = _calls_behind(state, one)
        near = near | calls if origins.called(state.symbols.keys[one]) is not None else near - calls
    return _trained(state, [one for one in near if state.nodes[one].fed is not None])


def _calls_behind(state: State, number: SymId) -> set[NodeId]:
    """Return the nodes of the unknown calls that an unknown value comes from, by items, attributes and methods."""
    node, key = state.trait(traits.CALL_NODE, number), state.symbols.keys[number]
    if node is not None or not isinstance(key, tuple):
        return set() if node is None else {node}
    parts = [one.id for one in key if isinstance(one, Sym)]
    parts += [SymId(key[1])] if key[0] is origins.ATTRIBUTE and isinstance(key[1], int) else []
    return {found for part in parts for found in _calls_behind(state, part)}


def _is_called_once(state: State, weight: RefId) -> bool:
    """Check whether there is one place in the program at which the opaque module with some weight is called."""
    sites = (node.site for node in state.nodes.values() if weight in node.leaves)
    return len({site and site.place for site in sites}) == 1


def _is_detached(state: State, number: SymId) -> bool:
    """Check whether an unknown value comes from a call of a function, of which the program detaches a result."""
    if (made_by := _made_by(state, number)) is None:
        return False
    tensors = [thing for thing in state.heap.values() if isinstance(thing, Tensor)]
    detached = {tensor.storage for tensor in tensors if tensor.view in BESIDE}
    known = ((one, state.tensor(ref)) for one, ref in state.all_traits(traits.TENSOR))
    computed = [_computed_of(state, [one]) for one, tensor in known if tensor and tensor.storage in detached]
    computed += [_operands_below(state, one) for one in tensors if one.storage in detached and one.nodes]
    return any({_made_by(state, one) for one in sources} == {made_by} for sources in computed)


def _made_by(state: State, number: SymId) -> Value | None:
    """Return the function whose call returned an unknown value, or that of which it is an item."""
    match state.symbols.keys[number]:
        case (origins.ITEM, Sym(whole), Const(int())):
            return origins.called(state.symbols.keys[whole])
        case key:
            return origins.called(key)


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


def read_after(state: State, starts: Collection[NodeId], write: Write) -> Reading | None:
    """
    Return where what a loss is computed of after a write reads what needs what the write overwrote.

        critic_opt.step()
        loss = -(log_prob * advantage).mean()     # `advantage` needs the old critic, `log_prob` leads to the actor

    None if the loss is older than the write, and if no gradient of anything else is computed with such a value: without
    its history, it would then have no part in the training.
    """
    later = [number for number in _below(state, starts) if number > write.newest]
    leading = {one for number in later for one in state.nodes[number].inputs if _is_overwritten(state, one, write)}
    reads = [node for number in later if not leading.isdisjoint((node := state.nodes[number]).inputs)]
    if not all(node.site for node in reads) or any(one <= write.newest for one in starts):
        return None
    onward = set(leading)
    for number in sorted(later):
        onward.update(() if onward.isdisjoint(state.nodes[number].inputs) else (number,))
    keeping = [number for number in onward - leading if state.nodes[number].saves]
    beside = any(_trained(state, _below(state, (number,), leading)) for number in keeping)
    sites = tuple(dict.fromkeys(node.site for node in reads if node.site is not None))
    return Reading(sites, frozenset(_held(state, leading))) if beside else None


def _is_overwritten(state: State, number: NodeId, write: Write) -> bool:
    """Check whether backward through a node that is older than a write needs something that was overwritten."""
    below = _below(state, (number,)) if number <= write.newest else ()
    saves = (save for one in below for save in state.nodes[one].saves)
    return any(save.clock < later.clock for save in saves for later in state.storages[save.storage].writes)


def _held(state: State, nodes: Collection[NodeId]) -> Iterator[str]:
    """Yield the names of variables and attributes that hold what some nodes computed."""
    for thing in state.heap.values():
        held = thing.values if isinstance(thing, Names) else thing.attrs if isinstance(thing, Instance) else {}
        for name, value in held.items():
            tensor = state.tensor(value)
            if tensor is not None and any(one in nodes for one in tensor.nodes):
                yield name


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
    leaves = {leaf for number in nodes for leaf in state.nodes[number].leaves}
    return frozenset(leaf for leaf in leaves if isinstance(thing := state.heap.get(leaf), Tensor) and thing.rg)


def trains_through(state: State, starts: Collection[NodeId], writes: Iterable[NodeId]) -> bool:
    """Return whether something that a loss trains gets its gradient only through writes, or those right before them."""
    places, waiting = set[Place](), list(writes)
    while waiting:
        node = state.nodes[waiting.pop()]
        if node.write is not None and node.write.site.place not in places:
            places.add(node.write.site.place)
            waiting.extend(node.inputs)
    below = _below(state, starts)
    nodes = {one for one in below if (write := state.nodes[one].write) is not None and write.site.place in places}
    return _trained(state, below) != _trained(state, _below(state, starts, nodes))
