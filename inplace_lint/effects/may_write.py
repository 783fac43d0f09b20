"""
When a definition writes: while it sets up what it makes, or whenever it is run.

    class Net(nn.Module):
        def __init__(self):
            self.blocks = nn.ModuleList(Block() for _ in range(4))
            self.apply(init_weights)         # fills parameters before anything is recorded

        def forward(self, x): ...            # runs the blocks

A network whose constructor fills parameters cannot break a gradient by that, while one whose blocks write in place can,
and so can whoever calls it. A function that a constructor only calls matters to the network by what it makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Generic, TypeVar

from inplace_lint.effects.summary import Definition
from inplace_lint.knowledge.facts import framework, frameworks

_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__setstate__"})

Name = TypeVar("Name")
Meant = TypeVar("Meant")


@dataclass(frozen=True, slots=True)
class Run(Generic[Name]):
    """What running a piece of code does: whether it `writes`, the names it `runs`, the attributes it `mentions`."""

    writes: bool
    runs: frozenset[Name]
    mentions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Links(Generic[Name]):
    """
    What a definition does, and which names lead to what else it does.

    `writes` when it is run (`touches`, if only what it has made itself), `makes` what writes when that is run, `fills`
    while it is set up. It runs, or keeps to be run, what stands behind the names `runs`, only calls those in `asks`
    while it is set up, and does more with those in `kept` than call them. `mentions` are the attributes in what it
    runs, and `members` the methods of a class that a call of its instances does not run.
    `is_class`: a call of it sets it up.
    """

    writes: bool = False
    makes: bool = False
    fills: bool = False
    runs: frozenset[Name] = frozenset()
    asks: frozenset[Name] = frozenset()
    kept: frozenset[Name] = frozenset()
    mentions: frozenset[str] = frozenset()
    members: Mapping[str, Run[Name]] = field(default_factory=dict)
    is_class: bool = False
    touches: bool = False

    def running(self, more: Iterable[Name]) -> Links[Name]:
        """Give the same with more that it runs."""
        return replace(self, runs=self.runs.union(more))

    def harmless(self) -> Links[Name]:
        """Give the same without anything that it does itself."""
        members = {name: replace(member, writes=False) for name, member in self.members.items()}
        return replace(self, writes=False, makes=False, fills=False, touches=False, members=members)

    def joined(self, other: Links[Name]) -> Links[Name]:
        """Give what two definitions of one name do."""
        return Links(
            self.writes or other.writes,
            self.makes or other.makes,
            self.fills or other.fills,
            self.runs | other.runs,
            self.asks | other.asks,
            self.kept | other.kept,
            self.mentions | other.mentions,
            {**self.members, **other.members},
            self.is_class or other.is_class,
            self.touches or other.touches,
        )

    def meaning(self, names: Mapping[Name, Iterable[Meant]]) -> Links[Meant]:
        """Give the same with each name replaced by what it means."""
        members = {
            name: Run(member.writes, _meaning(member.runs, names), member.mentions)
            for name, member in self.members.items()
        }
        runs, asks, kept = (_meaning(known, names) for known in (self.runs, self.asks, self.kept))
        return Links(
            self.writes, self.makes, self.fills, runs, asks, kept, self.mentions, members, self.is_class, self.touches
        )


def _meaning(known: Iterable[Name], names: Mapping[Name, Iterable[Meant]]) -> frozenset[Meant]:
    return frozenset(meant for name in known for meant in names.get(name, ()))


@dataclass(frozen=True, slots=True)
class Leading(Generic[Name]):
    """
    Names that lead to a write when they are run, those that make what does, and such methods of classes.

    `run` has how many calls of functions lie between a name and the write, or the class that writes when it is called.
    `touch` are functions that write what they have made, which matters to whoever passes them on.
    """

    run: Mapping[Name, int] = field(default_factory=dict)
    make: frozenset[Name] = frozenset()
    members: Mapping[Name, frozenset[str]] = field(default_factory=dict)
    touch: frozenset[Name] = frozenset()

    def passed(self, names: Iterable[Name]) -> bool:
        """Say whether one of these names leads to a write if it is passed to something that runs it."""
        return any(name in self.run or name in self.touch for name in names)


def reads(item: Definition) -> set[str]:
    """Give the names that a definition reads, its methods included."""
    found = set(item.reads)
    for method in item.methods:
        found |= method.reads
    return found


def links(item: Definition) -> Links[str]:
    """Tell what a definition does in which phase, as far as its text says."""
    if item.kind != "class":
        # What a function does with a name besides calling it may be to give it away.
        return Links(
            item.outward or item.makes,
            item.makes,
            runs=item.reads,
            asks=item.reads - item.kept,
            kept=item.kept,
            mentions=item.attributes,
            touches=item.writes,
        )
    set_up = setting_up(item)
    called = _called(item)
    run = [method for method in item.methods if method.name in called and method.name not in set_up]
    rest = [method for method in item.methods if method.name in set_up]
    runs = item.kept.union(*(method.reads for method in run), *(method.kept for method in rest))
    others = [method for method in item.methods if method.name not in called | set_up]
    makes = item.makes or any(method.makes for method in (*run, *rest))
    return Links(
        writes=makes or item.outward or any(method.outward for method in run),
        fills=any(method.writes for method in rest),
        runs=runs,
        asks=frozenset[str]().union(*(method.reads for method in rest)) - runs,
        kept=item.kept.union(*(method.kept for method in (*run, *rest))),
        mentions=frozenset[str]().union(*(method.attributes for method in run)),
        members={
            method.name: Run(method.outward or method.makes, method.reads, method.attributes) for method in others
        },
        is_class=True,
    )


@cache
def entries() -> frozenset[str]:
    """Return the methods that a call of an object runs: that of Python, and those of the frameworks' modules."""
    return frozenset({"__call__", *(framework(name).calls for name in frameworks())})


def setting_up(item: Definition) -> frozenset[str]:
    """Name the methods of a class that only its constructor runs, itself included."""
    found = {method.name for method in item.methods} & _CONSTRUCTORS
    grew = bool(found)
    while grew:
        more = {
            method.name
            for method in item.methods
            if method.name not in found | entries() and _is_only_called_by(method, item, found)
        }
        found |= more
        grew = bool(more)
    return frozenset(found)


def _is_only_called_by(method: Definition, item: Definition, callers: set[str]) -> bool:
    users = [other for other in item.methods if other.name != method.name and method.name in other.attributes]
    kept = item.kept_members.union(*(other.kept_members for other in users))
    return bool(users) and method.name not in kept and all(user.name in callers for user in users)


def _called(item: Definition) -> frozenset[str]:
    """Name the methods that a call of an instance may run: all where the class does not say what that is itself."""
    by_name: dict[str, list[Definition]] = {}
    for method in item.methods:
        by_name.setdefault(method.name, []).append(method)
    found = by_name.keys() & entries()
    if not found:
        return frozenset(by_name)
    # What the constructor keeps of the methods may be called in their place.
    constructors = [method for method in item.methods if method.name in _CONSTRUCTORS]
    found |= by_name.keys() & item.kept_members.union(*(method.kept_members for method in constructors))
    grew = True
    while grew:
        mentioned = {name for known in found for method in by_name[known] for name in method.attributes}
        more = (by_name.keys() & mentioned) - found
        found |= more
        grew = bool(more)
    return frozenset(found)


def leading(known: Mapping[Name, Links[Name]], outside: Leading[Name]) -> Leading[Name]:
    """Follow the names to all that leads to a write; `outside` are names that are known to."""
    run, make = dict(outside.run), set(outside.make)
    members = {name: set(found) for name, found in outside.members.items()}
    touch = outside.touch.union(name for name, link in known.items() if link.touches)

    def way(link: Links[Name] | Run[Name], owners: Iterable[Name]) -> int | None:
        ways = [run[name] + 1 for name in link.runs if name in run]
        if any(not link.mentions.isdisjoint(members.get(name, ())) for name in owners):
            ways.append(1)
        return min(ways, default=None)

    grew = True
    while grew:
        before = (len(make), sum(map(len, members.values())), dict(run))
        for name, link in known.items():
            parts = link.runs | link.asks
            held = touch if link.is_class else touch | run.keys()
            makes = link.makes or not (make.isdisjoint(link.asks) and held.isdisjoint(link.kept))
            calls = 0 if link.writes or (makes and link.is_class) else way(link, parts)
            if calls is not None:
                run[name] = min(run.get(name, calls), 0 if link.is_class else calls)
            if makes or (link.is_class and name in run):
                make.add(name)
            own = members.setdefault(name, set())
            for member, does in link.members.items():
                if member not in own and (does.writes or way(does, (*parts, name)) is not None):
                    own.add(member)
        grew = before != (len(make), sum(map(len, members.values())), run)
    found = {name: frozenset(own) for name, own in members.items() if own}
    return Leading(run, frozenset(make), found, touch)


def sets_up(item: Definition, link: Links[Name], known: Leading[Name]) -> bool:
    """Say whether a class writes something, or leads to what does, only while it is set up or in other methods."""
    return link.is_class and (
        link.fills or not known.run.keys().isdisjoint(link.asks) or any(method.writes for method in item.methods)
    )
