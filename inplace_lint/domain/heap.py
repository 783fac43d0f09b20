"""
What lives on the heap of a state: tensors, containers, instances and name spaces. All frozen; a change puts a new one.

A tensor is a record about a storage. Two records of one storage are views of each other; each knows its view kind:

    a, b = h.chunk(2)     # two records on h's storage, view kind MULTI, base h
    d = h.detach()        # a record on h's storage, view kind DETACH, without history
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING

from inplace_lint.core.event import Site, Touch
from inplace_lint.core.span import Place
from inplace_lint.domain.values import ClassValue, Dotted, NodeId, Partial, Ref, RefId, StorageId, Value

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from inplace_lint.core.records import dataclass

Three = bool | None


Step = tuple[str, str, tuple[Value, ...]]  # what it does to the axes or rows, the op, its arguments
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


@dataclass(frozen=True, slots=True)
class Tensor:
    """
    A tensor object.

    `rg` is whether it requires grad, `why` the sentence to assume when that is unknown. `nodes` are the tape nodes that
    made it. `base` is the tensor whose view it is, followed to the end. `counted` is false when writes through this
    record leave the version alone. `part` is which part of its storage it is, by the steps that led there, None
    when that is not known. `batched`: it stands for the examples of a batch. `since` is the version of its storage when
    it was made, for one of several views. `follows`: what is recorded on its base later is in its history too. `doubt`
    are assumptions under which it shares its storage at all. `sure` is false for an unknown that was only used as if it
    were a tensor. `made` is where and by which op it was made.

    Shapes: `rank` only; unknown stays None.
    """

    storage: StorageId
    rg: Three
    leaf: Three
    nodes: tuple[NodeId, ...] = ()
    base: Ref | None = None
    view: View | None = None
    dtype: str = "unknown"
    rank: int | None = None
    contiguous: Three = None
    inference: bool = False
    counted: bool = True
    param: bool = False
    sure: bool = True
    why: str = ""
    framework: str = ""
    doubt: frozenset[str] = frozenset()
    made: Touch | None = None
    grad: Ref | None = None
    part: Part | None = ()
    batched: bool = False
    since: int = 0
    follows: bool = True


@dataclass(frozen=True, slots=True)
class Storage:
    """
    Memory that tensors share.

    Units: `version` counts the counted writes since the storage was made; a write is kept with the version after it.
    """

    version: int = 0
    writes: tuple[Write, ...] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """
    One write to a storage, at a moment of the path's clock; `names` are the variables that it went through.

    `unseen`: it changed a tensor with a history while nothing was recorded.
    """

    touch: Touch
    version: int
    counted: bool
    clock: int
    assumptions: frozenset[str]
    doubt: frozenset[str] = frozenset()
    names: frozenset[tuple[RefId, str]] = frozenset()
    tensor: Ref | None = None
    unseen: bool = False


@dataclass(frozen=True, slots=True)
class Save:
    """
    A tensor that a node keeps for backward, with the version that it had.

    Backward compares the version if it is `checked`, and uses the value if it is `used`. `again`: the tensor is not
    kept, but read once more by a function that backward runs again.
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


@dataclass(frozen=True, slots=True)
class Broken:
    """A recorded write through which the framework refuses to run backward, and the check that fails there."""

    check: str
    touch: Touch


@dataclass(frozen=True, slots=True)
class Node:
    """
    An operation on the tape: the nodes of its inputs, and what it saved.

    `leaves` are the inputs that backward gives a gradient to.
    `passes` is the sentence to assume for a gradient to get through it at all: an unknown call may use its arguments.
    `broken` is the call, where the framework refuses to run backward through it.
    """

    op: str
    site: Site | None
    inputs: tuple[NodeId, ...]
    saves: tuple[Save, ...]
    assumptions: frozenset[str]
    passes: str = ""
    leaves: tuple[RefId, ...] = ()
    broken: Broken | None = None


@dataclass(frozen=True, slots=True)
class ListObject:
    """A list, set or deque; `exact` when these are certainly all its items."""

    items: tuple[Value, ...]
    exact: bool = True
    kind: str = "list"


@dataclass(frozen=True, slots=True)
class DictObject:
    """A dict with constant keys; `exact` when these are certainly all its items; `default` makes missing ones."""

    items: Mapping[object, Value]
    exact: bool = True
    default: Value | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """
    An object of a class of the program or of a library; `opaque` when unknown attributes may exist.

    `children` is the list or dict behind a container of modules. `made` is the expression that constructed it.
    `pending` is the class with the arguments of its constructor while that has not been run yet.
    """

    cls: ClassValue | Dotted
    attrs: Mapping[str, Value]
    opaque: bool = False
    children: Ref | None = None
    made: Place | None = None
    pending: Partial | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """The variables of a function call, class body or module; `bound` is the clock at which each was bound."""

    values: Mapping[str, Value]
    bound: Mapping[str, int]
    parent: Ref | None = None


Object = Tensor | ListObject | DictObject | Instance | Names
