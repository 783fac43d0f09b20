"""
The order in which the parts of a file are run as entry points: those that lead to a write, the outermost first.

    def train(x): return Net()(x)            # run first: it runs all of the others
    class Net: ...                           # run next, on its own
    def bump(x): x += 1                      # not run again if one of those above ran it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property

from msgspec import Struct, field

from inplace_lint.core.span import Slice
from inplace_lint.effects.may_write import FileEffects, entries, set_up_methods
from inplace_lint.effects.reachability import heights, reachable
from inplace_lint.effects.summary import Definition, Outline

_CALLERS = 1  # of functions that write nothing themselves and use the same definitions
_VARIANTS = 3  # of a class that each complete in their own way
_CALLS_TO_WRITE = 2


class Schedule(Struct, frozen=True, dict=True):
    """
    The functions and classes to run, in order; `script` when the module's own statements lead to a write.

    Of those in `set_up` only the constructor leads to one. `uses` has those of the file that each one uses.
    """

    items: tuple[Definition, ...]
    script: bool
    uses: Mapping[str, frozenset[str]]
    set_up: frozenset[str] = frozenset()
    seen: Counter[frozenset[str]] = field(default_factory=Counter)

    @cached_property
    def run_alone(self) -> frozenset[str]:
        """Return the classes whose instances are called in a run of their own."""
        return frozenset(item.name for item in self.items if item.kind == "class") - self.set_up

    def is_one_of_many(self, item: Definition) -> bool:
        """
        Return whether a function that writes nothing itself is a further caller of what enough others called before.

        Files of model variants hold dozens of functions that differ in a few arguments only, and classes without a
        method.
        """
        if item.writes or item.methods:
            return False
        used = self.uses[item.name]
        self.seen[used] += 1
        return self.seen[used] > (_CALLERS if item.kind == "function" else _VARIANTS)


def schedule(file: FileEffects) -> Schedule:
    """Order the functions and classes of a file that lead to a write so that each comes before those that it uses."""
    named, uses = {name: _with_helpers(file, name) for name in file.named}, file.uses
    set_up = {name for name in named if file.only_sets_up(name)}
    classes = {name for name, item in named.items() if item.kind == "class" and file.summary(name).calls is not None}
    near = classes | {name for name, item in named.items() if _is_near(file, item, classes)}
    reaching = {name for name, item in named.items() if writes(item)} | near | set_up
    height = heights({name: named[name].slice.first for name in reaching}, uses)
    order = sorted(reaching, key=lambda name: (-height[name], named[name].slice.first))
    shared = {name: frozenset(used & reaching) for name, used in uses.items()}
    return Schedule(tuple(named[name] for name in order), _runs_script(file, set_up), shared, frozenset(set_up))


def _with_helpers(file: FileEffects, name: str) -> Definition:
    """
    Return a class of which those methods count as writing that call what writes, and are run by their names.

    That is a function, or a method of another class that the class uses.

        def update(optimizer, loss):                  # a helper: it writes
            loss.backward()
            optimizer.step()

        def train(self, batch):
            update(self.optimizer, self.loss(batch))
    """
    item = file.named[name]
    if item.kind != "class":
        return item
    helpers, run_objects = file.helpers, file.methods_that_run_objects(name)
    called = {one for one in item.methods if one.name in run_objects or not helpers.isdisjoint(one.calls)}
    if not called:
        return item
    uses = {method.name: method.attributes for method in item.methods}
    run = reachable(entries() & uses.keys(), uses) | set_up_methods(item)
    methods = [
        method._replace(writes=True) if method in called and method.name not in run else method
        for method in item.methods
    ]
    return item._replace(methods=tuple(methods))


def _is_near(file: FileEffects, item: Definition, classes: set[str]) -> bool:
    """
    Return whether a function that leads to a write, or makes what does, is worth a run of its own.

    It is not if the write is so many calls away that it meets what those between keep, which are run themselves,
    unless it makes what writes and runs that, or tells how one of the `classes` of the file is constructed.
    """
    if item.kind != "function":
        return False
    found = file.summary(item.name)
    if found.calls is not None and found.calls <= _CALLS_TO_WRITE:
        return True
    return found.makes and (item.runs_made or not classes.isdisjoint(reachable(file.uses[item.name], file.uses)))


def _runs_script(file: FileEffects, set_up: set[str]) -> bool:
    """
    Return whether the module's own statements write, or call what does.

    Making an instance of a class is no such call, unless its constructor writes.
    """
    script = [item for item in file.outline.items if item.kind == "statement"]
    leading = {name for item in script for name in item.reads if file.leads(item, name)}
    grew = True
    while grew:
        more = {name for item in script if item.reads & leading for name in item.binds} - leading
        leading |= more
        grew = bool(more)
    classes = {name for name, item in file.named.items() if item.kind == "class"}
    running = (leading - classes) | set_up
    return any(
        item.writes
        or any(called in running or called.partition(".")[0] in leading for called in item.calls - (classes - set_up))
        or (item.calls and any(file.writes_when_passed(item, name) for name in item.kept - classes))
        for item in script
    )


def writes(item: Definition) -> bool:
    """Return whether something in a definition, methods included, may write in place."""
    return item.writes or any(method.writes for method in item.methods)


def written_with(item: Definition) -> frozenset[str]:
    """Return the attributes that the methods of a class which write name."""
    return frozenset[str]().union(*(method.attributes for method in item.methods if method.writes))


def setting(bases: Iterable[Definition], item: Definition) -> frozenset[Slice]:
    """Return the methods in other files, of the `bases` of a class, that set what its methods write, or write."""
    written = written_with(item)
    return frozenset(
        method.slice
        for base in bases
        if base.slice.path != item.slice.path
        for method in base.methods
        if method.writes or not method.sets.isdisjoint(written)
    )


def key(item: Definition) -> str:
    """Return the name of a definition in the set of those that entry points ran to their end (`ran` below)."""
    return f"{item.slice.path}:{item.slice.first}:{item.name}"


def keys_of(outline: Outline, names: AbstractSet[str]) -> frozenset[str]:
    """Return the keys of the definitions of a file that have these qualified names."""
    return frozenset(key(part) for part in _parts(outline) if part.qualname in names)


def names(outline: Outline) -> dict[str, str]:
    """Return the qualified names of the definitions of a file by their keys."""
    return {key(part): part.qualname for part in _parts(outline)}


def _parts(outline: Outline) -> Iterator[Definition]:
    for item in outline.items:
        if item.name:
            yield item
            yield from item.methods


def pending(bases: Callable[[], Iterable[Definition]], item: Definition, ran: AbstractSet[str], call: str) -> bool:
    """
    Return whether a function or class is to be run as an entry point of its own.

    `bases` returns the classes of the project that it derives from. `call` is the method that a call of a module runs.
    """
    if item.kind == "function":
        return key(item) not in ran
    # A class is run alone even if an outer entry point ran it: what is wrong in it whatever its inputs are is then an
    # error, where the way to the outer one's result may lead through unknown calls.
    runs = {call, "__call__"} if item.bases else {call}
    called = next((method for method in item.methods if method.name in runs), None)
    if called is not None:
        return writes(item) or key(called) not in ran
    # Without a method of its own for it, a call runs that of a base, on what this class constructs.
    if item.bases and (writes(item) or _changes_unseen(bases(), item, ran, runs) or _completes(bases(), item)):
        return True
    if any(method.writes and key(method) not in ran for method in item.methods):
        return True
    return any(True for _ in callers_of_parts(item, ran))


def is_unreached(item: Definition, ran: AbstractSet[str], call: str) -> bool:
    """Return whether a class whose `call` writes was called by no entry point yet."""
    if not is_uncalled(item, ran, call):
        return False
    below = reachable({call}, {method.name: method.attributes for method in item.methods})
    return any(method.writes and method.name in below for method in item.methods)


def is_uncalled(item: Definition, ran: AbstractSet[str], call: str) -> bool:
    """Return whether a class has a `call` of its own that no entry point ran yet."""
    called = next((method for method in item.methods if method.name == call), None)
    return called is not None and key(called) not in ran


def makes_uncalled(file: FileEffects, item: Definition, ran: AbstractSet[str], call: str) -> bool:
    """
    Return whether a function that an entry point ran makes an object whose call leads to a write, and none called one.

        def feed_forward(dim): return nn.Sequential(nn.Linear(dim, dim), Gate())
        self.net = Residual(feed_forward(8))    # of a library
    """
    if item.kind != "function" or not file.summary(item.name).makes:
        return False
    made = (file.named[name] for name in item.calls & file.named.keys())
    return any(
        method.name == call and key(method) not in ran
        for cls in made
        if cls.kind == "class" and writes(cls)
        for method in cls.methods
    )


def _changes_unseen(
    bases: Iterable[Definition], item: Definition, ran: AbstractSet[str], runs: AbstractSet[str]
) -> bool:
    """
    Return whether the constructor, or a method that one of a base uses, was not run by any entry point yet.

    Those of the `bases` are what sets up an object, and what a call `runs` with what it uses in turn.
    """
    used = {"__init__"}
    for base in bases:
        uses = {method.name: method.attributes for method in base.methods}
        run = set_up_methods(base) | reachable(runs, uses)
        used.update(*(uses[method] for method in run & uses.keys()))
    return any(method.name in used and key(method) not in ran for method in item.methods)


def _completes(bases: Iterable[Definition], item: Definition) -> bool:
    """
    Return whether a class binds what a base needs that leads to a write, and that no method of the `bases` sets.

        class Recurrent(nn.Module):
            cell = None    # of each class that derives from it
            def __init__(self, size): self.rnn = self.cell(size, size)

        class LongShortTerm(Recurrent): cell = nn.LSTM
    """
    known = [*bases] if item.sets else []
    needed = frozenset[str]().union(*(method.gets for base in known if writes(base) for method in base.methods))
    return not item.sets.isdisjoint(needed.difference(*(method.sets for base in known for method in base.methods)))


def unseen(item: Definition, ran: AbstractSet[str], call: str) -> bool:
    """Return whether a method that writes, or what a call of the class runs, was not run by any entry point yet."""
    return any(key(method) not in ran for method in item.methods if method.writes or method.name == call)


def pending_methods(item: Definition, ran: AbstractSet[str]) -> Iterator[Definition]:
    """
    Return the methods of a class to run as entry points of their own, each when its turn comes: the outermost first.

    They write, or call others of the class that do, and none ran these so far.
    """
    uses = {method.name: method.attributes for method in item.methods}
    for method in order_of_methods(item):
        if key(method) not in ran:
            below = reachable({method.name}, uses)
            if any(other.writes and other.name in below and key(other) not in ran for other in item.methods):
                yield method


def writing_methods(item: Definition) -> Iterator[Definition]:
    """Return the methods of a class that write, or call others of the class that do; not those that others call."""
    uses = {method.name: method.attributes for method in item.methods}
    called = set[str]()
    for method in order_of_methods(item):
        below = reachable({method.name}, uses)
        if method.name not in called and any(other.writes and other.name in below for other in item.methods):
            yield method
        called |= below


def callers_of_parts(item: Definition, ran: AbstractSet[str]) -> Iterator[Definition]:
    """
    Return the methods that call what the constructor of a class keeps, and that no entry point ran, outermost first.

    Where a call of an instance runs nothing, they are what runs the parts, which meet there what they kept before.
    """
    set_up = set_up_methods(item)
    parts = frozenset[str]().union(*(method.sets for method in item.methods if method.name in set_up))
    parts -= {method.name for method in item.methods}
    for method in order_of_methods(item):
        called = {words[1] for call in method.calls if len(words := call.split(".")) > 1}
        if method.name not in set_up and key(method) not in ran and not parts.isdisjoint(called):
            yield method


def templates(bases: Iterable[Definition], item: Definition) -> Iterator[Definition]:
    """
    Yield the methods that a class inherits and that call one of its own, where one of the two leads to a write.

        class Distribution:
            def log_prob(self, x): return -self.energy(x).sum()     # runs the `energy` of each class that derives
            def energy(self, x): raise NotImplementedError
    """
    own = {method.name: method.gets for method in item.methods}
    writing = {method.name for method in item.methods if method.writes}
    seen = set(own)
    for base in bases:
        for method in base.methods:
            called = method.attributes & own.keys()
            leads = method.writes or not writing.isdisjoint(reachable(called, own))
            if called and method.name not in seen and leads:
                yield method
            seen.add(method.name)


def callers_of_inherited(bases: Iterable[Definition], item: Definition, ran: AbstractSet[str]) -> Iterator[Definition]:
    """
    Yield the methods that call an inherited one which writes, and that no entry point ran: only here do the two meet.

        class Learner:
            def apply(self, loss, optimizer): ...               # runs backward, and a step

        class Adversarial(Learner):
            def update(self, x): ...                            # applies one loss after the other
    """
    own = {method.name for method in item.methods}
    writing = {method.name for base in bases for method in base.methods if method.writes} - own
    for method in order_of_methods(item) if writing else ():
        called = {call.rpartition(".")[2] for call in method.calls if "." in call}
        if key(method) not in ran and not called.isdisjoint(writing):
            yield method


def setters(item: Definition, method: Definition) -> Iterator[tuple[Definition, frozenset[str]]]:
    """Yield the methods that set attributes which a method, or what it calls, reads and does not set, with these."""
    below = reachable({method.name}, {other.name: other.gets for other in item.methods})
    inner = [other for other in item.methods if other.name in below]
    read = frozenset[str]().union(*(other.gets for other in inner))
    read -= frozenset[str]().union(*(other.sets for other in inner))
    outside = set_up_methods(item) | below
    for other in item.methods:
        if other.name not in outside and other.sets & read and not other.name.startswith("__"):
            yield other, other.sets & read


def left_to_others(item: Definition, method: Definition) -> frozenset[str]:
    """Return the attributes that only a constructor sets, and of which a method, or what it calls, makes calls."""
    below = reachable({method.name}, {other.name: other.attributes for other in item.methods})
    inner = [other for other in item.methods if other.name in below]
    called = {words[1] for other in inner for call in other.calls if len(words := call.split(".")) > 1}
    outside = set_up_methods(item)
    return frozenset(called).difference(*(other.sets for other in item.methods if other.name not in outside))


def order_of_methods(item: Definition) -> list[Definition]:
    """Order the methods of a class so that those that call others come first."""
    by_name = {method.member: method for method in item.methods}
    uses = {
        name: {other for other in method.attributes if other in by_name and other != name}
        for name, method in by_name.items()
    }
    height = heights({name: method.slice.first for name, method in by_name.items()}, uses)
    return sorted(item.methods, key=lambda method: (-height[method.member], method.slice.first))


def methods_of_classes(outline: Outline) -> frozenset[str]:
    """Return the keys of all methods of the classes of a file."""
    return frozenset(key(method) for item in outline.items for method in item.methods)


def writers(outline: Outline) -> list[Definition]:
    """Return the functions and methods of a file that write."""
    found = [item for item in outline.items if item.kind == "function" and item.writes]
    for item in outline.items:
        found.extend(method for method in item.methods if method.writes)
    return found
