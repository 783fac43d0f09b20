"""
What may write a tensor in place: the one analysis that all others ask.

Each function, class and module variable has a summary. Its own effects come from its text, by phase: what happens
while a class is set up, and what happens whenever a function or an instance is called.

    class Net(nn.Module):
        def __init__(self):
            self.blocks = nn.ModuleList(Block() for _ in range(4))
            self.apply(init_weights)         # fills parameters before anything is recorded

        def forward(self, x): ...            # runs the blocks

A network whose constructor fills parameters cannot break a gradient by that, while one whose blocks write in place can,
and so can whoever calls it. A function that a constructor only calls matters to the network by what it makes.

`close` adds what follows from the definitions that these effects lead to. The graph has one node for each name of each
file; `workspace.call_graph` builds it, since which definition a name means is a matter of imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache, cached_property
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.core.span import Slice
from inplace_lint.effects.reachability import reachable
from inplace_lint.effects.summary import Definition, Outline
from inplace_lint.effects.write_evidence import ANY
from inplace_lint.knowledge.facts import called_back, framework, frameworks

Target = tuple[str, str]  # the path of a file, and a name that it binds at its top level
Targets = frozenset[Target]
Meaning = Mapping[str, Iterable[Target]]

_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__setstate__"})


class Part(NamedTuple):
    """What one method does that a call of an instance does not run: see the fields of the same names of `Effects`."""

    writes: bool
    runs: Targets
    attributes: frozenset[str]


class Effects(Struct, frozen=True, dict=True):
    """
    What the text of one definition says that it does.

    `writes`: a call may write what others hold. `writes_own`: a function writes at least what it made itself.
    `makes`: it makes something that writes whenever that is run. `methods_write` are the methods of a class that write.
    `runs` are the definitions that a call runs, or keeps to be run; `only_called` those that are called and not kept,
    of a class while it is set up; `kept` those that more is done with than to call them. `attributes` are the
    attributes that a call names. `methods` are those of a class that a call of an instance does not run.
    `is_class`: a call sets up an instance. `bases` are the classes that it derives from.
    """

    writes: bool = False
    writes_own: bool = False
    makes: bool = False
    methods_write: frozenset[str] = frozenset()
    runs: Targets = frozenset()
    only_called: Targets = frozenset()
    kept: Targets = frozenset()
    attributes: frozenset[str] = frozenset()
    methods: Mapping[str, Part] = field(default_factory=dict)
    is_class: bool = False
    bases: Targets = frozenset()

    def joined(self, other: Effects) -> Effects:
        """Return the effects of two definitions of one name."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__struct_fields__)
        return Effects(*(mine | its for mine, its in pairs))

    def without_own_writes(self) -> Effects:
        """Return the same effects with nothing that the definition writes itself."""
        methods = {name: part._replace(writes=False) for name, part in self.methods.items()}
        return replace(self, writes=False, writes_own=False, makes=False, methods_write=frozenset(), methods=methods)

    @cached_property
    def leads_to(self) -> Targets:
        """All definitions that decide what follows from this one, those of its other methods included."""
        return self.runs.union(self.only_called, *(part.runs for part in self.methods.values()))


class Summary(NamedTuple):
    """
    The effects of a definition, and what follows from all that it leads to.

    `calls` is how many calls of functions lie between it and a write, or a class that writes when it is called; None if
    it leads to no write. `makes`: it makes something that writes whenever that is run. `methods` are those that lead to
    a write, of the methods of a class that a call of an instance does not run.
    """

    effects: Effects
    calls: int | None = None
    makes: bool = False
    methods: frozenset[str] = frozenset()


Summaries = dict[Target, Summary]


def read_names(item: Definition) -> frozenset[str]:
    """Return the names that a definition reads, its methods included."""
    return item.reads.union(*(method.reads for method in item.methods))


def effects(item: Definition, meaning: Meaning) -> Effects:
    """Return what a definition does in which phase, as far as its text says."""

    def targets(names: Iterable[str]) -> Targets:
        return frozenset(target for name in names for target in meaning.get(name, ()))

    if item.kind == "class":
        return _class_effects(item, targets)
    # What a function does with a name besides calling it may be to pass it on.
    return Effects(
        writes=item.writes_shared or item.makes,
        writes_own=item.writes,
        makes=item.makes,
        runs=targets(item.reads),
        only_called=targets(item.reads - item.kept),
        kept=targets(item.kept),
        attributes=item.attributes,
    )


def _class_effects(item: Definition, targets: Callable[[Iterable[str]], Targets]) -> Effects:
    set_up = set_up_methods(item)
    called = _called_methods(item)
    run = [method for method in item.methods if method.name in called and method.name not in set_up]
    setting_up = [method for method in item.methods if method.name in set_up]
    others = [method for method in item.methods if method.name not in called | set_up]
    runs = item.kept.union(*(method.reads for method in run), *(method.kept for method in setting_up))
    makes = item.makes or any(method.makes for method in (*run, *setting_up))
    return Effects(
        writes=makes or item.writes_shared or any(method.writes_shared for method in run),
        makes=makes,
        methods_write=frozenset(method.name for method in item.methods if method.writes),
        runs=targets(runs),
        only_called=targets(frozenset[str]().union(*(method.reads for method in setting_up)) - runs),
        kept=targets(item.kept.union(*(method.kept for method in (*run, *setting_up)))),
        attributes=frozenset[str]().union(*(method.attributes for method in run)),
        methods={
            method.name: Part(method.writes_shared or method.makes, targets(method.reads), method.attributes)
            for method in others
        },
        is_class=True,
        bases=targets(base.partition(".")[0] for base in item.bases),
    )


@cache
def entries() -> frozenset[str]:
    """Return the methods that a call of an object runs: that of Python, and those of the frameworks' modules."""
    return frozenset({"__call__", *(framework(name).calls for name in frameworks())})


def set_up_methods(item: Definition) -> frozenset[str]:
    """Return the methods of a class that only its constructor runs, itself included."""
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
    kept = item.kept_attributes.union(*(other.kept_attributes for other in users))
    return bool(users) and method.name not in kept and all(user.name in callers for user in users)


def _called_methods(item: Definition) -> frozenset[str]:
    """Return the methods that a call of an instance may run: all where the class does not say what that is itself."""
    named: dict[str, set[str]] = {}
    for method in item.methods:
        named.setdefault(method.name, set()).update(method.attributes)
    for attributes in named.values():
        attributes.update(_completing(attributes, named))
        attributes.update(*(methods for name, methods in called_back().items() if name in attributes))
    found = named.keys() & entries()
    if not found:
        return frozenset(named)
    # What the constructor keeps of the methods may be called in their place.
    constructors = [method for method in item.methods if method.name in _CONSTRUCTORS]
    kept = item.kept_attributes.union(*(method.kept_attributes for method in constructors))
    return frozenset(reachable(found | (named.keys() & (kept | _completing(kept, named))), named))


def _completing(names: AbstractSet[str], methods: Iterable[str]) -> frozenset[str]:
    """Return the methods that names stand for of which only the beginning is known."""
    starts = tuple([name.removesuffix(ANY) for name in names if name.endswith(ANY)])
    return frozenset(name for name in methods if starts and name.startswith(starts))


def close(known: Summaries, new: Mapping[Target, Effects]) -> None:
    """
    Add summaries for new definitions to those that are known.

    All that the new ones lead to has to be among them or known already; what is known therefore does not change, and
    the order in which files are looked at makes no difference.
    """
    known.update((target, Summary(own)) for target, own in new.items())
    grew = True
    while grew:
        grew = False
        for target, own in new.items():
            found = _summary(known, target, own)
            if found != known[target]:
                known[target] = found
                grew = True


def _summary(known: Summaries, target: Target, own: Effects) -> Summary:
    """Return the summary of a definition that follows from those that are known so far."""
    makes = (
        own.makes
        or any(known[used].makes for used in own.only_called)
        or any(known[used].effects.writes_own or not (own.is_class or known[used].calls is None) for used in own.kept)
    )
    owners = own.runs | own.only_called
    methods = frozenset(
        name for name, part in own.methods.items() if part.writes or _calls(known, part, owners | {target}) is not None
    )
    if own.writes or (makes and own.is_class) or (methods and methods & _called_by_bases(known, own)):
        calls: int | None = 0
    else:
        calls = _calls(known, own, owners)
        calls = 0 if own.is_class and calls is not None else calls
    return Summary(own, calls, makes or (own.is_class and calls is not None), methods)


def _called_by_bases(known: Summaries, own: Effects) -> frozenset[str]:
    """Return the attributes that the classes name from which a class derives: its methods take the place of theirs."""
    found: set[str] = set()
    seen: set[Target] = set()
    waiting = [*own.bases]
    while waiting:
        base = waiting.pop()
        if base in known and base not in seen:
            seen.add(base)
            above = known[base].effects
            found.update(above.attributes, *(part.attributes for part in above.methods.values()))
            waiting.extend(above.bases)
    return frozenset(found)


def _calls(known: Summaries, part: Effects | Part, owners: Targets) -> int | None:
    """Count the calls between a piece of code and a write; it may run methods of its `owners` by their names."""
    ways = [calls + 1 for used in part.runs if (calls := known[used].calls) is not None]
    if any(not part.attributes.isdisjoint(known[owner].methods) for owner in owners):
        ways.append(1)
    return min(ways, default=None)


class FileEffects(Struct, frozen=True, dict=True):
    """
    What the definitions of one file may write, closed over all files that they lead to.

    `named` are its functions and classes, `uses` those of them that each one uses. `meanings` say for each statement
    what the names in it mean, and `known` has the summaries of all of these.
    """

    outline: Outline
    named: Mapping[str, Definition]
    uses: Mapping[str, frozenset[str]]
    meanings: Mapping[Slice, Meaning]
    known: Summaries

    def summary(self, name: str) -> Summary:
        """Return the summary of a function or class of the file."""
        return self.known[self.outline.path, name]

    def leads(self, item: Definition, name: str) -> bool:
        """Return whether a name in an item means what leads to a write, or has methods that do."""
        return any(found.calls is not None or found.methods for found in self._meant(item, name))

    def writes_when_passed(self, item: Definition, name: str) -> bool:
        """Return whether what a name in an item means writes if it is passed to something that runs it."""
        return any(found.calls is not None or found.effects.writes_own for found in self._meant(item, name))

    def only_sets_up(self, name: str) -> bool:
        """Return whether a class leads to a write only while it is set up, or in methods that a call does not run."""
        own = self.summary(name)
        called = (self.known[used] for used in own.effects.only_called)
        return (
            own.effects.is_class
            and own.calls is None
            and (bool(own.effects.methods_write) or any(found.calls is not None for found in called))
        )

    @cached_property
    def helpers(self) -> frozenset[str]:
        """The names of the functions that write themselves, of the file and of those that its own lead to."""
        known = [(name, self.summary(name)) for name in self.named]
        known.extend((name, one) for (_, name), one in self._outside.items())
        return frozenset(name for name, one in known if one.calls == 0 and not one.effects.is_class)

    def methods_that_run_objects(self, name: str) -> frozenset[str]:
        """
        Return the methods of a class, of those that its call does not run, that run one of another class that it uses.

        def loss(self, x, action): return -self(x).log_prob(action).mean()     # of a law that the call returns
        """
        own = self.summary(name).effects
        found: set[str] = set()
        for method, part in own.methods.items():
            used = (own.runs | part.runs) - {(self.outline.path, name)}
            classes = [self.known[target] for target in used if self.known[target].effects.is_class]
            leading = frozenset[str]().union(*(one.methods | one.effects.methods_write for one in classes))
            if not part.attributes.isdisjoint(leading - own.methods.keys() - entries()):
                found.add(method)
        return frozenset(found)

    @cached_property
    def used(self) -> frozenset[str]:
        """The names of the functions of other files that lead to a write, of those that the file's own lead to."""
        return frozenset(name for (_, name), one in self._outside.items() if not one.effects.is_class)

    @cached_property
    def used_classes(self) -> Targets:
        """The classes of other files a call of which leads to a write, of those that the file's own lead to."""
        return frozenset(target for target, one in self._outside.items() if one.effects.is_class)

    @cached_property
    def _outside(self) -> Summaries:
        """The definitions of other files that lead to a write, of those that the file's own lead to."""
        targets = {target for name in self.named for target in self.summary(name).effects.leads_to}
        found = {target: self.known[target] for target in targets if target[0] != self.outline.path}
        return {target: one for target, one in found.items() if one.calls is not None}

    def _meant(self, item: Definition, name: str) -> Iterator[Summary]:
        return (self.known[target] for target in self.meanings[item.slice].get(name, ()))
