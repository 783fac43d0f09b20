"""
What the entry points of a file show of how the program calls the functions that are run alone as well.

    with torch.autocast("cuda"):
        out, extra = Net()(x)    # every call of `Net` is under autocast
    out.sum().backward()         # and its second result is in no loss

A class that writes is run alone, on its own arguments and with all of its results in the loss. Where the calls of the
program differ from that, they decide: it is run in their modes, and a write that only a dropped result meets is no
fault of a program that runs backward itself. Where nothing shows that these calls are for training, the difference is
an assumption.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.core.event import Carried, Event, Lost, Recomputed, Refused, Site, Stale, Untracked
from inplace_lint.domain import traits
from inplace_lint.domain.heap import Instance
from inplace_lint.domain.state import Modes, State
from inplace_lint.domain.values import Const, NodeId, Value

_FAULTS = Stale | Refused | Untracked | Recomputed | Lost


class Called(NamedTuple):
    """
    How a function is called: whether gradients are recorded, autocast is on, and versions are compared.

    `infers`: it is a method of a module that is not in training mode.
    """

    grad: bool | None
    autocast: bool | None
    compares: bool
    infers: bool = False


class Entry(NamedTuple):
    """An entry point: a function, or a class with the method that is run; empty where it is constructed only."""

    item: str
    method: str


class Drop(NamedTuple):
    """
    A write that the program runs for no loss: of a tensor that needs no gradient, or that only a dropped result needs.

    `calls` are those around it that run for a loss nevertheless: another result or an argument is in it. `trains`: the
    program runs that backward itself.
    """

    write: Site
    calls: frozenset[Site]
    trains: bool


class ObservedCalls(Struct):
    """
    The calls of all entry points so far, by the name of the function.

    `current` are those of the entry point that runs, `training` those of entry points that ran a backward, `other`
    those of the rest. `harmful` are the writes of which something was found. `before` nodes had been run by a backward
    when the entry point started. `asking` are the entry points that ask for a gradient themselves, with whether a run
    of each came as far as that. `callers` are those that call a function and run no backward. `inferring` are the
    classes of modules that were not in training mode, by the method that was called. `since` is the clock at which the
    entry point started: what the statements of modules wrote is theirs.
    """

    current: dict[str, set[Called]] = field(default_factory=dict)
    training: dict[str, set[Called]] = field(default_factory=dict)
    other: dict[str, set[Called]] = field(default_factory=dict)
    harmful: set[Site] = field(default_factory=set)
    drops: set[Drop] = field(default_factory=set)
    before: int = 0
    since: int = 0
    asking: dict[Entry, bool] = field(default_factory=dict)
    callers: dict[str, set[Entry]] = field(default_factory=dict)
    inferring: dict[str, Value] = field(default_factory=dict)

    def start_root(self, state: State) -> None:
        """Start an entry point on a state in which the statements of modules may have run a backward."""
        self.before, self.since = len(state.freed), state.clock
        self.current.clear()
        state.set_trait(traits.LOSS, None, False)

    def call(self, name: str, modes: Modes, receiver: Instance | None) -> None:
        """Note that the entry point that runs calls a function, which may be a method of an object."""
        infers = receiver is not None and receiver.attrs.get("training") == Const(False)
        if infers and receiver is not None:
            self.inferring[name] = receiver.cls
        self.current.setdefault(name, set()).add(Called(modes.grad, modes.autocast, modes.compares, infers))

    def end_root(self, states: Iterable[State], entry: Entry, *, asks: bool, tries: bool = False) -> bool:
        """
        Note what became of the calls of an entry point on each of its paths; return whether a backward was run.

        `asks`: the code of the entry point asks for one itself. `tries`: it is the script of a module of a package,
        which shows nothing of what others that import the module do unless it trains.
        """
        states = list(states)
        trains = loaded = False
        for state in states:
            loaded = loaded or state.has_trait(traits.LOADED, None)
            found = {event.write.site for event in state.events if isinstance(event, _FAULTS)}
            self.harmful |= found
            if len(state.freed) > self.before:
                trains = True
                self.drops.update(_dropped(state, found, self.since))
        if asks:
            self.asking[entry] = trains or self.asking.get(entry, False)
        known = self.training if trains else self.other
        loaded = loaded and not tries
        for name, called in self.current.items():
            # What switches gradients off for weights as they were constructed tries the network; nobody infers with it.
            tried = {one._replace(grad=None, infers=False) for one in called}
            trained = name in self.inferring and _has_in_training(states, self.inferring[name])
            seen = {one._replace(infers=False) for one in called} if trained else called
            known.setdefault(name, set()).update(seen if trains or loaded else tried)
            if not trains:
                self.callers.setdefault(name, set()).add(entry)
        self.current.clear()
        return trains

    def enter(self, state: State, name: str) -> None:
        """Enter the modes that all calls of a function have; that gradients are recorded may be an assumption."""
        called = self.training.get(name) or self.other.get(name)
        if called and all(one.autocast for one in called):
            state.modes = replace(state.modes, autocast=True)
        if called and all(one.grad is False for one in called):
            if name in self.training:
                state.modes = replace(state.modes, grad=False)
            elif not self._may_be_trained(name):
                state.assume("gradients are recorded, which the calls here turn off")

    def only_infers(self, name: str) -> bool:
        """Check whether a program that trains calls a method only of modules that are not in training mode."""
        called = self.training.get(name)
        return bool(called) and all(one.infers for one in called or ())

    def _may_be_trained(self, name: str) -> bool:
        """
        Check whether what calls a function for no loss has another method that trains and was not followed so far.

        What only that one calls for no loss, before it asks for a gradient, may be a teacher.
        """
        unfollowed = {entry for entry, trains in self.asking.items() if not trains}
        items = {entry.item for entry in unfollowed}
        return any(entry.item in items for entry in self.callers[name] - unfollowed)

    def is_only_repeated(self, name: str) -> bool:
        """Check whether all calls of a function are in functions that backward runs again and does not compare."""
        called = self.training.get(name) or self.other.get(name)
        return bool(called) and not any(one.compares for one in called or ())

    def confirmed(self, event: Event) -> Event | None:
        """
        Return an event of an entry point as the calls of the program have it; None if no call that trains has it.

        If none has it at all, it is an assumption that one does.
        """
        ours = isinstance(event, Carried) or (isinstance(event, Stale | Untracked) and event.backward is None)
        if not isinstance(event, Stale | Untracked | Carried) or not ours:
            return event
        inside = _places(event.write.site)[:-1]
        if not inside or any(_outer_call(site, inside) is not None for site in self.harmful):
            return event
        found = [drop for drop in self.drops if _outer_call(drop.write, inside) in drop.calls]
        if any(drop.trains for drop in found):
            return None
        why = frozenset({"a gradient is computed for a result that the calls here discard"} if found else ())
        return replace(event, assumptions=event.assumptions | why) if why else event


def _has_in_training(states: Iterable[State], cls: Value) -> bool:
    """Check whether a path has a module of a class in training mode, whoever calls it."""
    things = (thing for state in states for thing in state.heap.values() if isinstance(thing, Instance))
    return any(thing.cls is cls and thing.attrs.get("training") != Const(False) for thing in things)


def _places(site: Site | None) -> list[object]:
    found: list[object] = []
    while site is not None:
        found.append(site.place)
        site = site.caller
    return found


def _outer_call(site: Site, inside: Sequence[object]) -> Site | None:
    """Return the call from which the program led to a site through these places; None for another way to it."""
    above: Site | None = site
    for place in inside:
        if above is None or above.place != place:
            return None
        above = above.caller
    return above if above is not None and above.place.at else None


def _dropped(state: State, harmful: set[Site], since: int) -> Iterator[Drop]:
    """Return the writes to what needs no gradient, and to what the nodes saved that no backward ran, after a time."""
    trains = state.trait(traits.LOSS, None) is True
    for storage in state.storages.values():
        for write in storage.writes:
            tensor = None if write.tensor is None else state.tensor(write.tensor)
            is_kept = write.clock <= since or write.touch.site in harmful
            if tensor is not None and tensor.rg is False and not is_kept:
                yield Drop(write.touch.site, _calls_of(write.touch.site), trains)
    stale = {site: numbers for site, numbers in _stale(state, since).items() if site not in harmful}
    if stale:
        ran, after = _calls_that_ran(state), _after_what_ran(state)
        for site, numbers in stale.items():
            calls = _calls_of(site)
            yield Drop(site, calls if numbers <= after else calls & ran, trains)


def _stale(state: State, since: int) -> dict[Site, set[NodeId]]:
    """Return the writes after a time to what nodes saved that no backward ran, with these nodes."""
    found: dict[Site, set[NodeId]] = {}
    for number, node in state.nodes.items():
        for save in node.saves if number not in state.freed else ():
            for write in state.storages[save.storage].writes:
                if write.clock > max(save.clock, since) and write.touch.site.caller is not None:
                    found.setdefault(write.touch.site, set()).add(number)
    return found


def _after_what_ran(state: State) -> set[NodeId]:
    """Return the nodes that backward ran, and those computed from what these gave."""
    found = set(state.freed)
    for number in sorted(state.nodes):
        if not found.isdisjoint(state.nodes[number].inputs):
            found.add(number)
    return found


def _calls_that_ran(state: State) -> frozenset[Site]:
    """Return the calls of functions of the program in which something was computed that backward ran."""
    nodes = (state.nodes[number] for number in state.freed)
    return frozenset(call for node in nodes if node.site is not None for call in _calls_of(node.site))


def _calls_of(site: Site) -> frozenset[Site]:
    found: set[Site] = set()
    above = site.caller
    while above is not None:
        found.add(above)
        above = above.caller
    return frozenset(found)
