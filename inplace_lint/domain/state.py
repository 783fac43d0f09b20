"""
The state of one path: heap, storages, tape, modes, assumptions and events so far.

A state has exactly one owner. Where a path splits, `fork()` makes the second state; no other module keeps a state
across a fork. All changes go through the methods of this class, so that a state knows whether a call changed older
objects.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.core.event import Event, Refused, Site, Stale, Touch
from inplace_lint.domain.heap import DictObject, Instance, ListObject, Names, Node, Object, Storage, Tensor, Write
from inplace_lint.domain.traits import CONTENTS, TENSOR, Key, Kind, Trait
from inplace_lint.domain.values import NAMES, Builtin, Const, NodeId, Ref, RefId, StorageId, Sym, SymId, Tuple, Value


class Symbols(Struct):
    """
    The table of unknown values of a program: one symbol a key.

    A key is a tuple of an origin and what the value was derived from, such as `(ATTRIBUTE, 3, "shape")`. `marked` are
    the symbols that have a trait on some path (weights, items, the call that returned them): the traits of a path are
    looked up only for these. `graded` are the gradients that were read of what may not require grad.
    """

    ids: dict[Hashable, SymId] = field(default_factory=dict)
    keys: list[Hashable] = field(default_factory=list)
    marked: set[SymId] = field(default_factory=set)
    graded: set[RefId] = field(default_factory=set)

    def sym(self, key: Hashable, kind: str = "") -> Sym:
        """Return the unknown value with this key."""
        number = self.ids.get(key)
        if number is None:
            number = self.ids[key] = SymId(len(self.keys))
            self.keys.append(key)
        return Sym(number, kind)

    def key(self, sym: Sym) -> Hashable:
        """Return the key that a symbol was made with."""
        return self.keys[sym.id]


class Modes(Struct, frozen=True):
    """
    The modes that ops run under; None for a mode that is not known.

    `compiled`: in code of a compiler that turns writes into values.
    `mapped`: in a function that is mapped over the examples of a batch.
    `captured`: storages up to this id are older than the transform that runs.
    `rereads`: storages up to this id are older than the function that runs, which backward runs again.
    `compares`: whether backward compares versions; a function that it runs again in hooks of its own is not compared.
    `expects`: the program handles the errors of the framework: "all" of them, or "own", those that are raised in the
    function whose call is `own`.
    """

    grad: bool | None = True
    inference: bool = False
    packed: bool = False
    script: bool = False
    autocast: bool | None = False
    compiled: bool = False
    mapped: bool = False
    captured: int = 0
    rereads: int = 0
    compares: bool = True
    expects: str = ""
    own: Site | None = None


class State:
    """
    Everything that one path knows.

    `templates` are constructions that can be repeated by copying. Two fields tell what a construction did: `lowest`,
    the lowest id of what was changed, and `attached`, the chain of traits that were set.
    """

    __slots__ = (
        "assumptions",
        "attached",
        "clock",
        "events",
        "facts",
        "freed",
        "heap",
        "lasting",
        "learned",
        "lowest",
        "modes",
        "next_id",
        "nodes",
        "storages",
        "symbols",
        "templates",
        "trail",
        "traits",
    )

    def __init__(self, symbols: Symbols) -> None:
        self.heap: dict[RefId, Object] = {}
        self.storages: dict[StorageId, Storage] = {}
        self.nodes: dict[NodeId, Node] = {}
        self.freed: dict[NodeId, int] = {}
        self.facts: dict[Hashable, Const] = {}
        self.traits: dict[tuple[Trait[Any, Any], Hashable], Any] = {}
        self.templates: dict[Hashable, object] = {}
        self.lowest = 0
        self.attached: object = None
        self.modes = Modes()
        self.symbols = symbols
        self.next_id = 1
        self.clock = 1
        self.trail = self.lasting = object()
        self.learned: tuple[Hashable, object] | None = None
        self.events: tuple[Event, ...] = ()
        self.assumptions: frozenset[str] = frozenset()

    def fork(self) -> State:
        """Return a second state with the same content; neither sees later changes of the other."""
        other = State.__new__(State)
        for name in _TABLES:
            setattr(other, name, getattr(self, name).copy())
        for name in _VALUES:
            setattr(other, name, getattr(self, name))
        return other

    def become(self, other: State) -> None:
        """Take over the content of another state, which must not be used any more."""
        for name in State.__slots__:
            setattr(self, name, getattr(other, name))

    def merge(self, other: State, *, returned: bool = False) -> bool:
        """
        Merge a state that differs only in its path condition, and forget the conditions that differ.

        If a function `returned`, its variables may differ as well. Return False and change nothing if more differs.
        """
        if self.lasting is not other.lasting or not (returned or self.trail is other.trail):
            return False
        self.clock = max(self.clock, other.clock)
        mine, theirs = _cells(self.learned), _cells(other.learned)
        for cells, known in ((mine, theirs), (theirs, mine)):
            for number, condition in cells.items():
                if number not in known:
                    self.facts[condition] = Const(None)
        return True

    # -- objects -----------------------------------------------------------------------------------------------------

    def fresh(self) -> int:
        """Return an id that nothing has yet."""
        self.next_id += 1
        return self.next_id

    def _changed(self, number: int | None = None) -> None:
        self.trail = self.lasting = object()
        if number is not None and number < self.lowest:
            self.lowest = number

    def new(self, thing: Object) -> Ref:
        """Put a new object on the heap."""
        ref = Ref(RefId(self.fresh()))
        self.put(ref, thing)
        return ref

    def new_frame(self, names: Names) -> Ref:
        """Put the variables of a call on the heap, for as long as the call lasts."""
        ref = Ref(RefId(self.fresh()))
        self.heap[ref.id] = names
        self.trail = object()
        return ref

    def put(self, ref: Ref, thing: Object) -> None:
        """Replace the object behind a ref, for all names that hold it."""
        number = ref.id
        self.heap[number] = thing
        self.trail = self.lasting = object()
        if number < self.lowest:  # noqa: PLR1730 - `min` takes twice as long here
            self.lowest = number

    def object(self, value: Value) -> Object | None:
        """Return the object behind a ref; None for any other value."""
        return self.heap.get(value.id) if type(value) is Ref else None

    def contents(self, value: Value) -> Value:
        """
        Return the dict or list behind an object whose class derives from one; else the value itself.

        For the attributes of an object as a mapping it is a copy.
        """
        if type(value) is Builtin and value.name == NAMES and type(value.receiver) is Ref:
            instance = self.instance(value.receiver)
            if instance is None:
                return value
            named: dict[object, Value] = dict(instance.attrs.items())
            return self.new(DictObject(named, not instance.opaque))
        inner = self.trait(CONTENTS, value.id) if type(value) is Ref else None
        return value if inner is None else inner

    def tensor(self, value: Value) -> Tensor | None:
        """Return the tensor behind a value, or None if it is not one."""
        kind = type(value)
        if kind is Ref:
            thing = self.heap.get(value.id)  # type: ignore[union-attr, arg-type]
        elif kind is Sym:
            known = self.traits.get((TENSOR, value.id))  # type: ignore[union-attr]
            thing = None if type(known) is not Ref else self.heap.get(known.id)
        else:
            return None
        return thing if type(thing) is Tensor else None

    def tensors_in(self, value: Value) -> list[tuple[Ref, Tensor]]:
        """List the tensors that a value is or holds in tuples, lists and lists of parameters, in order."""
        if type(value) is Const:
            return []
        if (tensor := self.tensor(value)) is not None:
            ref = self.ref(value)
            return [] if ref is None else [(ref, tensor)]
        holder: Any = value if type(value) is Tuple else self.object(value)
        if type(holder) is Instance and holder.children is not None:
            holder = self.object(holder.children)
        if type(holder) not in (Tuple, ListObject):
            return []
        return [found for item in holder.items for found in self.tensors_in(item)]

    def ref(self, value: Value) -> Ref | None:
        """Return the ref of the object that a value is, also for an unknown value that was materialised as a tensor."""
        if type(value) is Sym:
            return self.trait(TENSOR, value.id)
        return value if type(value) is Ref else None

    # -- names -------------------------------------------------------------------------------------------------------

    def bind(self, env: Ref, name: str, value: Value, *, local: bool = False) -> None:
        """Bind a variable; one that is `local` to the function that runs lasts as long as its call."""
        names = self.heap[env.id]
        assert isinstance(names, Names)
        self.clock += 1
        values, bound = {**names.values, name: value}, {**names.bound, name: self.clock}
        before = self.lasting
        self.put(env, Names(values, bound, names.parent))
        if local:
            self.lasting = before

    def bound_at(self, variable: tuple[RefId, str]) -> int | None:
        """Return when a variable was bound to its value; None where it is not bound."""
        env, name = variable
        scope = self.heap[env]
        return scope.bound.get(name) if isinstance(scope, Names) else None

    def unbind(self, env: Ref, name: str) -> None:
        """Remove a variable."""
        names = self.heap[env.id]
        assert isinstance(names, Names)
        self.put(env, replace(names, values={key: value for key, value in names.values.items() if key != name}))

    def set_attribute(self, ref: Ref, name: str, value: Value) -> None:
        """Set an attribute of an instance."""
        thing = self.heap[ref.id]
        assert isinstance(thing, Instance)
        attrs = {**thing.attrs, name: value}
        self.put(ref, Instance(thing.cls, attrs, thing.opaque, thing.children, thing.made, thing.pending))

    def trait(self, trait: Trait[Key, Kind], key: Key) -> Kind | None:
        """Return what is remembered under a key; None where nothing is."""
        return self.traits.get((trait, key))

    def has_trait(self, trait: Trait[Key, Kind], key: Key) -> bool:
        """Check whether anything is remembered under a key."""
        return (trait, key) in self.traits

    def all_traits(self, trait: Trait[Key, Kind]) -> Iterator[tuple[Key, Kind]]:
        """Yield the keys and values of a trait, in the order in which the keys were first set."""
        for (kind, key), value in self.traits.items():
            if kind is trait:
                yield key, value  # type: ignore[misc]

    def set_trait(self, trait: Trait[Key, Kind], key: Key, value: Kind) -> None:
        """Remember something about an object, an unknown value, or this path as a whole."""
        cell = (trait, key)
        self.traits[cell] = value
        self.attached = (cell, self.attached)
        self._changed()

    def truth(self, sym: Hashable) -> bool | None:
        """Return the truth of a condition that this path assumed before; None if it assumed neither."""
        known = self.facts.get(sym)
        return None if known is None or known.value is None else bool(known.value)

    def learn(self, condition: Hashable, side: bool) -> None:
        """Add a condition, or its negation, to the path condition."""
        self.facts[condition] = Const(side)
        self.learned = (condition, self.learned)

    def assume(self, sentence: str) -> None:
        """Add an assumption that all later events of this path depend on."""
        if sentence not in self.assumptions:
            self.assumptions |= {sentence}
            self.trail = self.lasting = object()

    def withdraw(self, sentence: str) -> None:
        """Take an assumption back: nothing that has happened on this path depends on it."""
        self.assumptions -= {sentence}
        self.trail = self.lasting = object()

    def report(self, event: Event) -> None:
        """Add an event, once; leave out an error that the program handles."""
        if event not in self.events and not (self.modes.expects and self._is_handled(event)):
            self.events = (*self.events, event)
            self._changed()

    def refute(self, event: Event) -> None:
        """Drop an event, of which the path has shown since that it is none."""
        self.events = tuple([one for one in self.events if one != event])
        self._changed()

    def _is_handled(self, event: Event) -> bool:
        match event:
            case Refused(write=Touch(site=site)) | Stale(backward=Site() as site):
                return self.modes.expects == "all" or site.caller == self.modes.own
            case _:
                return False

    # -- storages and tape -------------------------------------------------------------------------------------------

    def new_storage(self) -> StorageId:
        """Create a storage that has not been written."""
        number = StorageId(self.fresh())
        self.storages[number] = Storage()
        self._changed(number)
        return number

    def write(self, storage: StorageId, write: Write) -> None:
        """Record a write; it increases the version by one if it is counted."""
        self.clock += 1
        known = self.storages[storage]
        version = known.version + write.counted
        made = replace(write, version=version, clock=self.clock, newest=self.next_id)
        self.storages[storage] = Storage(version, (*known.writes, made))
        self._changed(storage)

    def record(self, node: Node) -> NodeId:
        """Append an operation to the tape."""
        number = NodeId(self.fresh())
        self.nodes[number] = node
        self._changed(number)
        return number

    def put_storage(self, number: StorageId, storage: Storage) -> None:
        """Put a storage under an id."""
        self.storages[number] = storage
        self._changed(number)

    def advance(self, size: int) -> None:
        """Reserve ids, for objects that were put under them."""
        self.next_id += size
        self.clock += 1

    def leaves_tensors_of(self, before: State) -> bool:
        """Return whether no tensor of an earlier state of the path was written since."""
        return all(self.storages[key] == one for key, one in before.storages.items())

    def free(self, node: NodeId) -> None:
        """Mark a node whose saved tensors were used up by a backward."""
        self.freed[node] = 1
        self._changed(node)

    def tensor_of(self, sym: Sym, make: Tensor) -> Ref:
        """Return the tensor that an unknown value was materialised as: one a path, `make` where there is none yet."""
        known = self.trait(TENSOR, sym.id)
        if known is not None:
            return known
        ref = self.new(make)
        self.set_trait(TENSOR, sym.id, ref)
        return ref

    def instance(self, value: Value) -> Instance | None:
        """Return the instance behind a value, or None if it is not one."""
        thing = self.heap.get(value.id) if type(value) is Ref else None
        return thing if type(thing) is Instance else None


_TABLES = ("heap", "storages", "nodes", "freed", "facts", "traits", "templates")
_VALUES = tuple(name for name in State.__slots__ if name not in _TABLES)


def _cells(learned: object) -> dict[int, Hashable]:
    """Return the cells of a chain of learned conditions, by their identity."""
    found: dict[int, Hashable] = {}
    while isinstance(learned, tuple):
        found[id(learned)] = learned[0]
        learned = learned[1]
    return found
