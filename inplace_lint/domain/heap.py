"""
The objects on the heap of a state: tensors, containers, instances and name spaces.

All are frozen: a change puts a new object in the place of the old one. A tensor is a record about a storage. Two
records of one storage are views of each other, and each knows its view kind:

    a, b = h.chunk(2)     # two records on h's storage, view kind MULTI, base h
    d = h.detach()        # a record on h's storage, view kind DETACH, without history
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.event import Failure, Site, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain.shape import Size, Term
from inplace_lint.domain.values import (
    NONE,
    ClassValue,
    Dotted,
    NodeId,
    Partial,
    Ref,
    RefId,
    StorageId,
    Three,
    Value,
    is_key,
    key_of,
    may_be_key,
    of_key,
    of_set,
)

Step = tuple[str, str, tuple[Value, ...]]  # what the op does to the axes or rows, its name, its arguments
Part = tuple[Step, ...]


class View(Enum):
    """How a record came to share the storage of another."""

    SINGLE = "single"
    MULTI = "multi"
    EXPANDED = "expanded"
    NO_GRAD = "no_grad"
    INFERENCE = "inference"
    CUSTOM = "custom"
    HOOKED = "hooked"
    DETACH = "detach"
    DATA = "data"
    UNTRACKED = "untracked"
    MAYBE = "maybe"


FIXED = (View.MULTI, View.NO_GRAD, View.CUSTOM)  # views whose history cannot be updated once their memory is written
BESIDE = frozenset({View.DETACH, View.DATA})  # views that have no part in the history of what they share memory with


class Tensor(Struct, frozen=True):
    """
    A tensor object.

    `rg`: whether it requires grad; `why` is the assumption that a finding states where that is unknown.
    `nodes`: the tape nodes that computed it. `made`: where and by which op it was created.
    `base`: the tensor that it is a view of, never itself a view.
    `counted`: whether a write through this record increases the version of the storage.
    `part`: the part of the storage that it covers, as the steps that lead there; None where that is unknown.
    `batched`: it represents all examples of a batch, inside of `vmap`; None where that is not known.
    `since`: for a view whose history cannot be updated, the version of the storage when it was created.
    `follows`: its history includes what is recorded on its base later.
    `doubt`: the assumptions under which it shares its storage. `before`: for one of several views, those of them that
    were made of the tensor that was divided.
    `sure`: false for an unknown value that was only used as if it were a tensor.

    `dtype` is its class of dtypes, `exact` the name of the dtype where it is certain.
    `device`: the group of tensors that are certainly on the same device; 0 for that of its storage.
    `sizes`: its shape; None where even the number of axes is unknown. `strides`: None for those of a contiguous tensor,
    or where they are unknown.
    """

    storage: StorageId
    rg: Three
    leaf: Three
    nodes: tuple[NodeId, ...] = ()
    base: Ref | None = None
    view: View | None = None
    dtype: str = "unknown"
    exact: str = ""
    device: int = 0
    sizes: tuple[Size, ...] | None = None
    strides: tuple[Term | None, ...] | None = None
    contiguous: Three = None
    inference: bool = False
    counted: bool = True
    param: bool = False
    sure: bool = True
    why: str = ""
    framework: str = ""
    doubt: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    made: Touch | None = None
    grad: Ref | None = None
    part: Part | None = ()
    batched: bool | None = False
    since: int = 0
    follows: bool = True

    @property
    def has_history(self) -> bool:
        """Whether the tape certainly leads from it to what it was computed from."""
        return self.rg is True and self.leaf is False and bool(self.nodes)

    @property
    def rank(self) -> int | None:
        """The number of axes; None if unknown."""
        return None if self.sizes is None else len(self.sizes)


def alike(tensor: Tensor) -> dict[str, Any]:
    """Return the fields of a tensor that one of the same shape and dtype shares with it."""
    names = ("dtype", "exact", "sizes", "strides", "contiguous")
    return {name: getattr(tensor, name) for name in names}


class Storage(Struct, frozen=True):
    """
    Memory that tensors share.

    Units: `version` is the number of counted writes since the storage was created; a write has the version after it.
    """

    version: int = 0
    writes: tuple[Write, ...] = ()


class Write(Struct, frozen=True):
    """
    One write to a storage, at a time of the path's clock; `names` are the variables that it went through.

    `through` are those of which a call wrote a part: `x` in `x[0].add_(1)`.
    `unseen`: it changed a tensor with a history while grad mode was off, so that the tape does not contain it.
    `steady`: grad mode was off, and the derivative of what it wrote by what was there before is 1.
    `part`: the part of the storage that it changed; None where that is unknown.
    `moved`: its tensor was given other memory (`w.data = x`), so that what else has the old memory keeps its values.
    `newest`: the highest id at that time: nodes above it were recorded after the write.
    """

    touch: Touch
    version: int
    counted: bool
    clock: int
    assumptions: frozenset[str]
    doubt: frozenset[str] = frozenset()
    names: frozenset[tuple[RefId, str]] = frozenset()
    through: frozenset[tuple[RefId, str]] = frozenset()
    tensor: Ref | None = None
    unseen: bool = False
    steady: bool = False
    part: Part | None = None
    moved: bool = False
    newest: int = 0


class Save(Struct, frozen=True):
    """
    A tensor that a node keeps for backward, with the version that it had.

    Backward compares the version if it is `checked`, and uses the value if it is `used`, which `supposes` assumptions.
    `again`: the tensor is not kept; a function that backward runs again reads it once more. `view`: it is a view of
    another tensor, whose memory it keeps where that is given other memory. `asks`: the nodes of the
    operand that has to require grad for the tensor to be kept, if that alone is not known.
    """

    storage: StorageId
    version: int
    touch: Touch
    clock: int
    assumptions: frozenset[str]
    doubt: frozenset[str] = frozenset()
    checked: bool = True
    used: bool = True
    again: bool = False
    supposes: frozenset[str] = frozenset()
    view: bool = False
    asks: tuple[NodeId, ...] = ()


class Broken(Struct, frozen=True):
    """A recorded write that backward cannot pass, and the check of the framework that fails there."""

    check: Failure
    touch: Touch


class Altering(Struct, frozen=True):
    """
    A write by which a backward or a hook changes the gradient that it is given; whether it returns one as well.

    `refused`: the write that the framework refuses if that gradient is expanded.
    """

    write: Touch
    returned: bool
    refused: Broken | None = None


class Node(Struct, frozen=True):
    """
    An operation on the tape: the nodes of its inputs, and what it saved.

    `leaves`: the inputs that receive a gradient in backward.
    `passes`: the assumption under which a gradient passes it at all, for an unknown call that may use its arguments.
    `free`: what was called is a function outside of the program.
    `doubts`: the assumptions under which the inputs that nothing is known of require grad.
    `fed`: what an opaque module was called on, whose backward needs its parameters if that requires grad.
    `broken`: the write, where the framework refuses to run backward through it. `write`: what the operation wrote.
    `hands`: those of the inputs that are given the gradient of the result itself, uncopied, `expands` those that are
    given an expansion of it. `alters`: what its backward, or a hook, writes into the gradient that it is given,
    `spoils` what it writes into memory that is older than the call.
    """

    op: str
    site: Site | None
    inputs: tuple[NodeId, ...]
    saves: tuple[Save, ...]
    assumptions: frozenset[str]
    passes: str = ""
    leaves: tuple[RefId, ...] = ()
    broken: Broken | None = None
    free: bool = False
    write: Touch | None = None
    doubts: frozenset[str] = frozenset()
    fed: tuple[Value, ...] | None = None
    hands: tuple[NodeId, ...] = ()
    expands: tuple[NodeId, ...] = ()
    alters: Altering | None = None
    spoils: tuple[tuple[StorageId, Write], ...] = ()


class ListObject(Struct, frozen=True):
    """
    A list, set, deque, queue or context variable; `exact`: `items` are certainly all its items.

    `most`: how many a deque may have.
    """

    items: tuple[Value, ...]
    exact: bool = True
    kind: str = "list"
    most: int | None = None

    def extended(self, new: tuple[Value, ...], *, exact: bool = True, left: bool = False) -> ListObject:
        """Return it with more items at an end, from the other end of which those fall out that are too many."""
        items = (*new, *self.items) if left else (*self.items, *new)
        if self.most is not None and len(items) > self.most:
            items = items[: self.most] if left else items[len(items) - self.most :]
        return replace(self, items=items, exact=self.exact and exact)


class DictObject(Struct, frozen=True):
    """
    A dict; `exact`: `items` are certainly all; `default` is the value of a missing key, `factory` makes it.

    Keys are constants, classes and unknown values. Of the unknown ones each is taken to be another key, but it may be
    any of those that are not there: with one, a dict is not `exact`.
    """

    items: Mapping[object, Value]
    exact: bool = True
    default: Value | None = None
    factory: Value | None = None

    @property
    def pairs(self) -> tuple[tuple[Value, Value], ...]:
        """The keys as values, each with its item."""
        return tuple([(of_key(key), item) for key, item in self.items.items()])

    def stored(self, key: Value, item: Value) -> DictObject:
        """Return the dict with an item stored under a key."""
        return self.joined(DictObject(_kept(key, item), is_key(key)))

    def joined(self, other: DictObject) -> DictObject:
        """
        Return the dict with the items of another one.

        Where that may have others, a default of None is taken to be replaced by one of these: it asks for a value.
        """
        own = self.items if other.exact else {key: item for key, item in self.items.items() if item != NONE}
        return replace(self, items={**own, **other.items}, exact=self.exact and other.exact)


def set_of(items: Sequence[Value], *, exact: bool) -> ListObject:
    """Return the set of these items; `exact`: there are no others."""
    found, known = of_set(items)
    return ListObject(found, exact and known, "set")


def dict_of(pairs: Iterable[tuple[Value, Value]], *, exact: bool) -> DictObject:
    """Return the dict of these keys and items; `exact`: there are no others."""
    items: dict[object, Value] = {}
    for key, item in pairs:
        items |= _kept(key, item)
        exact = exact and is_key(key)
    return DictObject(items, exact)


def _kept(key: Value, item: Value) -> dict[object, Value]:
    return {key_of(key): item} if may_be_key(key) else {}


class Instance(Struct, frozen=True):
    """
    An object of a class of the program or of a library; `opaque`: it may have attributes that are not known.

    `children`: the list or dict behind a container of modules. `made`: the expression that constructed it.
    `pending`: the class and the arguments of its constructor, as long as the constructor has not been run.
    """

    cls: ClassValue | Dotted
    attrs: Mapping[str, Value]
    opaque: bool = False
    children: Ref | None = None
    made: Place | None = None
    pending: Partial | None = None


class Names(Struct, frozen=True):
    """The variables of a function call, class body or module; `bound`: the clock at which each was bound."""

    values: Mapping[str, Value]
    bound: Mapping[str, int]
    parent: Ref | None = None


Object = Tensor | ListObject | DictObject | Instance | Names
