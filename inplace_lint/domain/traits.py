"""
Traits: what a path remembers about objects beyond what the heap and the tape record.

    state.set_trait(traits.KEPT, ref.id, Kept(state.clock, place))   # this tensor was put into a container
    state.trait(traits.KEPT, ref.id)                                 # None where nothing is remembered

Each trait is declared here: the types of its keys and values, its lifetime, and what becomes of it where the
construction of an object is copied (`heap_templates`). A key is an id, or a tuple that starts with one.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import Any, Generic, TypeVar

from msgspec import Struct

from inplace_lint.core.event import Lost, Site, Touch
from inplace_lint.core.span import Place, Slice
from inplace_lint.domain.heap import Part, Write
from inplace_lint.domain.shape import Size
from inplace_lint.domain.values import (
    ClassValue,
    Closure,
    Const,
    NodeId,
    Ref,
    RefId,
    StorageId,
    Sym,
    SymId,
    Three,
    Value,
)
from inplace_lint.knowledge.operator_schema import OperatorSchema

Key = TypeVar("Key", bound=Hashable)
Kind = TypeVar("Kind")


class Lifetime(Enum):
    """
    How long a trait is valid.

    ROOT: computed on first use, and the same on every path of an entry point. CALL: it is about the frame of a call, or
    an unknown value that a call created. PATH: until the end of the path.
    """

    ROOT = "root"
    CALL = "call"
    PATH = "path"


class Owner(Enum):
    """
    What the key of a trait identifies, which decides what the copy of a construction does with it.

    The trait of an object or storage that the construction created is copied with it, under its new id. The trait of an
    unknown value that it created is not copied. The trait of anything older, or of the path as a whole, is a change
    that a copy cannot repeat: such a construction has no template.
    """

    OBJECT = "object"
    STORAGE = "storage"
    SYMBOL = "symbol"
    WHOLE = "whole"


class Trait(Generic[Key, Kind]):
    """The declaration of a trait. `derived`: it follows from the copied objects, so that copies ignore it."""

    __slots__ = ("derived", "lifetime", "name", "owner")

    def __init__(self, name: str, owner: Owner, lifetime: Lifetime = Lifetime.PATH, *, derived: bool = False) -> None:
        self.name, self.owner, self.lifetime, self.derived = name, owner, lifetime, derived

    def __repr__(self) -> str:
        return self.name

    @property
    def is_copied(self) -> bool:
        """Whether a template has to take this trait into account."""
        return self.lifetime is Lifetime.PATH and not self.derived


class Handed(Struct, frozen=True):
    """
    The last unknown call that was given a module: what the tape had before it is older than `node`.

    `assumes` says that the call kept what the module holds. `resets`: a method of the module that a call of it does
    not run sets attributes, as one that resets a state does.
    """

    node: NodeId
    assumes: str
    resets: bool


class Kept(Struct, frozen=True):
    """
    When and where a tensor was put into a container, or a `state_dict` was read.

    `before`: when and where it had been put into one, if it is now an item of a list that is made for an expression.
    """

    clock: int
    place: Place
    before: tuple[int, Place] | None = None


class Option(Struct, frozen=True):
    """An option of a command line: what it is where nobody passes it, and how Python's parser reads it, where known."""

    name: str
    default: Const | None
    flags: tuple[str, ...]
    settings: tuple[tuple[str, Any], ...] | None


class ModelKept(Struct, frozen=True):
    """When and where a model became an attribute of `owner` under another name."""

    clock: int
    place: Place
    owner: Value
    value: Value


class Cached(Struct, frozen=True):
    """The function that has a tensor in its cache; `bare`: as it was created, with no value that was computed."""

    place: Place
    bare: bool


class Beside(Struct, frozen=True):
    """A write through a detached view of a tensor, and what it assumes. `low`: it sets elements to a low number."""

    touch: Touch
    assumptions: frozenset[str]
    low: bool


class Settled(Struct, frozen=True):
    """
    The last write to memory, at a clock, which changes nothing where it is done once more: op, part, arguments.

    Of a `nudge` that is not so, but it changes little.
    """

    op: str
    part: Part | None
    arguments: tuple[tuple[str, Value], ...]
    clock: int
    nudge: bool = False


class Slope(Struct, frozen=True):
    """An unrecorded write of a leaf, what it assumes, and the nodes of the gradients that the new value is made of."""

    touch: Touch
    assumptions: frozenset[str]
    nodes: tuple[NodeId, ...]


class Switch(Struct, frozen=True):
    """The mode that an object sets as a context manager, and the value that it sets it to."""

    mode: str
    setting: Value | None = None


class Step(Struct, frozen=True):
    """
    A step of an optimizer that is not known: its clock, its call site and its name.

    It `updates` some or all of the unknown modules that had a gradient, for the checker that asks for these, or of the
    `leaves`, which are parameters. The nodes below the id `made` were recorded before it.
    """

    clock: int
    site: Site
    name: str
    updates: frozenset[SymId] = frozenset()
    leaves: frozenset[RefId] = frozenset()
    made: int = 0


class Called(Struct, frozen=True):
    """A call of an unknown value that may be a module: what was called on what, and the node on the tape, if any."""

    function: SymId
    name: str
    given: tuple[Value, ...]
    clock: int
    site: Site
    node: NodeId | None


class Added(Struct, frozen=True):
    """When a backward added to a gradient that was there, and the call that ran it."""

    clock: int
    write: Touch


class Told(Struct, frozen=True):
    """When and where a custom function said what backward is to keep."""

    clock: int
    site: Site


class Operator(Struct, frozen=True):
    """
    An operator that the program registered: its body, and the arguments that a call writes.

    It `hides` what the body does from the tape where it has a backward of its own, which uses what `set_up` saves.
    The `schema` is kept where it declares a write.
    """

    body: Closure | None = None
    hides: bool = False
    writes: tuple[str, ...] = ()
    set_up: Closure | None = None
    schema: OperatorSchema | None = None


class Loader(Struct, frozen=True):
    """The data set of a loader, the op that joins items if any, the program's own function, and whether `several`."""

    dataset: Ref
    stack: str
    collate: Value
    several: bool


class Holding(Struct, frozen=True):
    """
    What the program stored in an unknown object, by part and name; `made_by`: the nodes of the call that made it.

    `free`: methods of it were given all that, which may also measure or print it.
    """

    made_by: tuple[NodeId, ...]
    free: bool
    values: tuple[tuple[Hashable, Value], ...] = ()

    def with_value(self, place: Hashable, value: Value, *, free: bool) -> Holding:
        """Return the same with another value at a place."""
        return Holding(self.made_by, self.free and free, tuple({**dict(self.values), place: value}.items()))


# Computed on first use, once an entry point.
MODULE_SCOPE: Trait[str, Ref] = Trait("module scope", Owner.WHOLE, Lifetime.ROOT)
CLASS_SCOPE: Trait[tuple[Slice, str, int], Ref] = Trait("class scope", Owner.WHOLE, Lifetime.ROOT)
CLASS: Trait[Slice, ClassValue] = Trait("class", Owner.WHOLE, Lifetime.ROOT)  # of a base that a function made
METHOD: Trait[tuple[Slice, str], Value] = Trait("method", Owner.WHOLE, Lifetime.ROOT)
OF_FUNCTION: Trait[tuple[Slice, str, Ref | None, str], Value] = Trait("attribute of a function", Owner.WHOLE)
UNBOUND: Trait[tuple[str, str], bool] = Trait("unbound", Owner.WHOLE, Lifetime.ROOT)
HAS_RUN: Trait[Slice, bool] = Trait("has run", Owner.WHOLE, Lifetime.ROOT)
OPERATOR: Trait[str, Operator] = Trait("operator", Owner.WHOLE, Lifetime.ROOT)
SWAPPED: Trait[str, Value] = Trait("what an attribute of a framework was set to", Owner.WHOLE, Lifetime.ROOT)

# About the frame of a call.
COMPREHENSION: Trait[RefId, bool] = Trait("comprehension", Owner.OBJECT, Lifetime.CALL)
YIELDED: Trait[RefId, Ref] = Trait("yielded", Owner.OBJECT, Lifetime.CALL)
LEFT_BODY: Trait[RefId, tuple[Enum, Value]] = Trait("left the body of `with`", Owner.OBJECT, Lifetime.CALL)
LENGTH: Trait[SymId, int] = Trait("length", Owner.SYMBOL, Lifetime.CALL)
LOADER: Trait[SymId, Loader] = Trait("data loader", Owner.SYMBOL)

# Of objects.
ATTRIBUTE: Trait[tuple[RefId, str], Value] = Trait("attribute", Owner.OBJECT)
SWITCH: Trait[RefId, Switch] = Trait("switch", Owner.OBJECT)
BEFORE_MODE: Trait[RefId, tuple[Three, bool, Three]] = Trait("gradients, inference, autocast before it", Owner.OBJECT)
SAVED: Trait[RefId, tuple[Value, ...]] = Trait("saved", Owner.OBJECT)
TOLD: Trait[tuple[RefId, RefId], Told] = Trait("told to save a tensor", Owner.OBJECT)
DIRTY: Trait[RefId, tuple[Value, ...]] = Trait("dirty", Owner.OBJECT)
HAS_GRADIENT: Trait[RefId, bool] = Trait("has a gradient", Owner.OBJECT)
OPTIMIZED: Trait[RefId, bool] = Trait("a known optimizer updates it", Owner.OBJECT)
DIFFERENTIATED: Trait[RefId, bool] = Trait("backward ran from it", Owner.OBJECT)
USED_UP: Trait[RefId, bool] = Trait("backward ran from it, through a history that is not known", Owner.OBJECT)
# The handles of the hooks of a module, in the order in which they are called; of a handle, the node of its hook.
HOOKED: Trait[RefId, tuple[Ref, ...]] = Trait("hooked", Owner.OBJECT)
HOOKS_BEFORE: Trait[RefId, tuple[Ref, ...]] = Trait("hooks before", Owner.OBJECT)
HOOKS_AFTER: Trait[RefId, tuple[Ref, ...]] = Trait("hooks after", Owner.OBJECT)
HOOKED_NODE: Trait[RefId, NodeId] = Trait("node of the hook", Owner.OBJECT)
BUFFER: Trait[tuple[RefId, str], bool] = Trait("buffer", Owner.OBJECT)
CONTENTS: Trait[RefId, Ref] = Trait("dict or list behind an object of a class that derives from it", Owner.OBJECT)
WHOLE_NUMBERS: Trait[StorageId, bool] = Trait("holds whole numbers, as a cast to these may share it", Owner.STORAGE)
SELECTED: Trait[RefId, bool] = Trait("copied by an index", Owner.OBJECT, derived=True)
LEAST_AXES: Trait[RefId, int] = Trait("has at least so many axes, of which no more is known", Owner.OBJECT)
FROZEN: Trait[RefId, bool] = Trait("a module whose parameters were told to require no grad", Owner.OBJECT)
UNIT_AXIS: Trait[RefId, bool] = Trait("has an axis of size 1, of how many is not known", Owner.OBJECT)
GRADIENT_OF: Trait[RefId, Ref] = Trait("gradient of a parameter that may not require grad", Owner.OBJECT)
REGISTRY: Trait[RefId, tuple[str, str]] = Trait("belongs to a name that other files may fill", Owner.OBJECT)
SAME_DEVICE: Trait[int, int] = Trait("group of tensors on the same device as another one", Owner.WHOLE, derived=True)
CACHED: Trait[RefId, Cached] = Trait("is returned by later calls of a function", Owner.OBJECT)
PARTS_OF: Trait[RefId, Ref] = Trait("names the modules of a module", Owner.OBJECT)
ARGUMENT: Trait[RefId, Sym] = Trait("the argument that an object is of which only the class is known", Owner.OBJECT)
REFUSED: Trait[tuple[RefId, str], bool] = Trait("refused", Owner.OBJECT)

# Of unknown values: keyed by symbol.
TENSOR: Trait[SymId, Ref] = Trait("tensor", Owner.SYMBOL, derived=True)
CALL_NODE: Trait[SymId, NodeId] = Trait("node of the call", Owner.SYMBOL, derived=True)
HOLDING: Trait[SymId, Holding] = Trait("what the program stored in an unknown object", Owner.SYMBOL)
PARAMETERS: Trait[SymId, tuple[Ref, ...]] = Trait("parameters", Owner.SYMBOL)
WEIGHT: Trait[SymId, Ref] = Trait("weight", Owner.SYMBOL)
LAYER: Trait[SymId, Ref] = Trait("weight of a library's layer", Owner.SYMBOL)
GIVEN: Trait[SymId, Ref] = Trait("what an unknown call was given parameters for", Owner.SYMBOL)
WRAPS: Trait[SymId, Ref] = Trait("the module that an unknown call was given", Owner.SYMBOL)
NAMED: Trait[SymId, tuple[tuple[str, Value], ...]] = Trait(
    "tensors that an unknown call was given by name", Owner.SYMBOL
)
PASSED_ON: Trait[SymId, bool] = Trait("passed on", Owner.SYMBOL)
TOLD_FROZEN: Trait[SymId, bool] = Trait("was told to require no grad", Owner.SYMBOL)
FED: Trait[SymId, bool] = Trait("a parameter that was passed whole to an unknown call", Owner.SYMBOL, derived=True)
AXES: Trait[SymId, bool] = Trait("is an array with axes, or a tuple of these", Owner.SYMBOL)
ITEMS: Trait[SymId, tuple[tuple[Value, Value], ...]] = Trait("items", Owner.SYMBOL)
UNKNOWN_ATTRIBUTE: Trait[tuple[SymId, str], Value] = Trait("attribute of an unknown", Owner.SYMBOL)
SIZES: Trait[SymId, tuple[Size, ...]] = Trait("sizes", Owner.SYMBOL)
LEAST: Trait[SymId, int] = Trait("is at least this number", Owner.SYMBOL)
ZEROED: Trait[SymId, bool] = Trait("zeroed", Owner.SYMBOL)
EQUALS: Trait[SymId, Const] = Trait("equals", Owner.SYMBOL)
# Sides that are not taken together with a side of another condition: the own one, the other condition and its side.
EXCLUSIVE: Trait[SymId, tuple[tuple[bool, SymId, bool], ...]] = Trait("exclusive", Owner.SYMBOL)
FLOATING_DTYPE: Trait[SymId, str] = Trait("floating dtype", Owner.SYMBOL)
# The `**kwargs` of a constructor that is an entry point: what a callee reads from it may have been passed.
FORWARDED: Trait[RefId, bool] = Trait("has options", Owner.OBJECT)
PLACES: Trait[RefId, tuple[int, ...]] = Trait("places of its items among all that it is made of", Owner.OBJECT)
HAS_USED_GRADIENT: Trait[SymId, bool] = Trait("has a gradient that is used", Owner.SYMBOL)
KEEPS_GRADIENT: Trait[SymId, bool] = Trait("was asked to keep its gradient, as a leaf does", Owner.SYMBOL)
NONE_BY_DEFAULT: Trait[SymId, bool] = Trait("is None by default", Owner.SYMBOL)
# What an option of a command line is where it is not passed; of a parser, the options that have such a value.
DEFAULT: Trait[SymId, Const] = Trait("is by default", Owner.SYMBOL)
OPTIONS: Trait[SymId, tuple[Option, ...]] = Trait("options of a parser", Owner.SYMBOL)
NO_GRADIENT: Trait[SymId, bool] = Trait("has no gradient", Owner.SYMBOL)
OF_TENSORS: Trait[SymId, bool] = Trait("has tensors as items", Owner.SYMBOL)
REQUIRES_GRAD: Trait[SymId, bool] = Trait("was found to require grad", Owner.SYMBOL)

# What augmented assignments made of an unknown value, each with the write that it was if that is a tensor.
AUGMENTED: Trait[SymId, tuple[tuple[SymId, Write], ...]] = Trait("augmented", Owner.SYMBOL)
# Inputs that were used as only a tensor can be, and what augmented assignments assume of those that were not.
IS_TENSOR: Trait[SymId, bool] = Trait("is no number", Owner.SYMBOL)
RECORDED_IN: Trait[str, tuple[int, int | None]] = Trait("numbers of the nodes made in a context", Owner.WHOLE)
WAS_ON: Trait[str, bool] = Trait("sentences that say that gradients were on, and they were", Owner.WHOLE)
TAKEN_FOR_TENSOR: Trait[str, SymId] = Trait("sentences that take an unknown value for a tensor", Owner.WHOLE)
AUGMENTED_FROM: Trait[SymId, SymId] = Trait("was augmented", Owner.SYMBOL)
# Where an operator gave an unknown value: frame, node and modes; and the results of operators on an unknown value.
COMPUTED_AT: Trait[SymId, tuple[Any, int, Any] | None] = Trait("was computed at", Owner.SYMBOL)
OPERAND_OF: Trait[SymId, tuple[SymId, ...]] = Trait("is an operand of", Owner.SYMBOL)

# Of the path as a whole.
OTHER_DEFAULT: Trait[None, bool] = Trait("other default dtype", Owner.WHOLE)
MEMBER: Trait[tuple[Slice, str, Value], Ref] = Trait("member", Owner.WHOLE)
LISTED: Trait[Value, tuple[Ref, ...]] = Trait("listed modules", Owner.WHOLE)
TRAINS: Trait[None, int] = Trait("trains", Owner.WHOLE)
HANDED: Trait[None, Handed] = Trait("handed to an unknown call", Owner.WHOLE, derived=True)
LOADED: Trait[None, bool] = Trait("a module may have been loaded", Owner.WHOLE, derived=True)
LOSS: Trait[None, bool] = Trait("ran the backward of a loss in this entry point", Owner.WHOLE)
STEPPED: Trait[None, Step] = Trait("stepped", Owner.WHOLE)
RESULT: Trait[tuple[Ref | None, str, tuple[Value, ...]], Value] = Trait("in the cache of a function", Owner.WHOLE)

# Of the checkers (`interp/checkers`): nothing that is evaluated depends on them. `clobbered` and `self_average`:
BOUND_BY_LOOP: Trait[tuple[RefId, str, Ref], bool] = Trait("bound by loop", Owner.OBJECT, Lifetime.CALL)
# `self_average`: where a tensor was averaged with another one, by the same statement.
APART: Trait[Place, bool] = Trait("averaged with another tensor", Owner.WHOLE)
# `module_containers`: modules that loops leave out, since they are like this one.
LEFT_OUT: Trait[RefId, tuple[Ref, ...]] = Trait("stands for similar modules", Owner.OBJECT, derived=True)
# `clobbered`: when the right side of an assignment to several targets was evaluated.
SPREAD: Trait[RefId, int] = Trait("spread", Owner.OBJECT, Lifetime.CALL)
# `kept_values`:
FETCHED: Trait[tuple[RefId, str], bool] = Trait("fetched", Owner.OBJECT, Lifetime.CALL)
KEPT: Trait[RefId, Kept] = Trait("kept", Owner.OBJECT)
KEPT_ALIASES: Trait[StorageId, tuple[Ref, ...]] = Trait("kept aliases", Owner.STORAGE)
WRITTEN_BESIDE: Trait[RefId, Beside] = Trait("written beside its history", Owner.OBJECT)
REPEATED: Trait[RefId, Place | None] = Trait("repeated", Owner.OBJECT)
LOST: Trait[Site, tuple[Lost, ...]] = Trait("used values whose histories lack a write", Owner.WHOLE)
YIELDED_FIRST: Trait[RefId, Kept] = Trait("was yielded first", Owner.OBJECT)
YIELDED_AT: Trait[RefId, tuple[int, ...]] = Trait("when its items were yielded", Owner.OBJECT)
ON_ARRAY: Trait[RefId, Value] = Trait("shares the memory of an array", Owner.OBJECT)
# `kept_values` and `kept_states`:
KEPT_FOR_LATER: Trait[RefId, Kept] = Trait("kept for later", Owner.OBJECT)
SETTLED: Trait[StorageId, Settled] = Trait("settled", Owner.STORAGE, derived=True)
ADDED_TO: Trait[RefId, Added] = Trait("was added to", Owner.OBJECT)
STATE_OF: Trait[RefId, Kept] = Trait("part of a state", Owner.OBJECT)
# `hooked`: whether a forward hook is running, and what one has stored.
IN_HOOK: Trait[None, bool] = Trait("a forward hook is running", Owner.WHOLE, derived=True)
KEPT_BY_HOOK: Trait[StorageId, tuple[Ref, Place]] = Trait("kept by a hook", Owner.STORAGE)
# `kept_models`:
MODELS_KEPT: Trait[None, tuple[ModelKept, ...]] = Trait("models kept by name", Owner.WHOLE, derived=True)
# `lost_slope`:
SLOPE: Trait[RefId, Slope | None] = Trait("written with a gradient that can be differentiated", Owner.OBJECT)
# `alias_query`:
ESCAPED: Trait[RefId, bool] = Trait("escaped", Owner.OBJECT)
# `unknown_steps`: calls of what may be modules by their results, what has a gradient of them, and steps.
CALLED: Trait[SymId, Called | None] = Trait("was called", Owner.SYMBOL, derived=True)
GRADED: Trait[None, frozenset[SymId]] = Trait("may be modules that have a gradient", Owner.WHOLE)
STEPS: Trait[None, tuple[Step, ...]] = Trait("steps of unknown optimizers", Owner.WHOLE)
