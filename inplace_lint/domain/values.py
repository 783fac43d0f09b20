"""
The values that a name can have.

Values are immutable. What Python can change lives on the heap of a state, and a `Ref` identifies it, so that two names
of one list or one tensor hold equal refs:

    identity = x          # both names hold Ref(7)
    x += 1                # the tensor behind Ref(7) changes, for both

An unknown value is a `Sym`. Its key says how it was derived (`(ATTRIBUTE, 3, "shape")`), so that the same attribute of
the same unknown value is the same `Sym`, and a condition on it takes the same side each time on a path.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, NewType

from msgspec import Struct

from inplace_lint.core.span import Place, Slice
from inplace_lint.ir.nodes import Function

Three = bool | None
RefId = NewType("RefId", int)
SymId = NewType("SymId", int)
StorageId = NewType("StorageId", int)
NodeId = NewType("NodeId", int)


class _Compared(Struct, frozen=True, eq=False):
    """A record with an `__eq__` of its own, which the `__ne__` of a struct would not ask."""

    def __ne__(self, other: object) -> bool:
        return not self == other


class Const(_Compared, frozen=True, eq=False):
    """
    A Python constant; `origin` is the expression that it was written as, where it may decide a write.

    `source` is the unknown value that it stands for, where an entry point runs on a default: another argument may give
    another constant. `of` is the enumeration whose member it is, where members are also texts or numbers.
    """

    value: object
    origin: Place | None = None
    source: SymId | None = None
    of: ClassValue | None = None

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))

    def __eq__(self, other: object) -> bool:
        # 1, 1.0 and True are different constants.
        return isinstance(other, Const) and type(self.value) is type(other.value) and self.value == other.value


class Ref(NamedTuple):
    """The identity of an object on the heap."""

    id: RefId


class Sym(_Compared, frozen=True, eq=False):
    """
    An unknown value.

    `kind` is what it certainly is: "tensor", "number", "str", "sequence", "callable", "array" for an object of a
    library that knows no tensors, such as NumPy, "name" for the name under which an unknown module lists a parameter,
    of which no two are equal, or "" for anything.
    """

    id: SymId
    kind: str = ""

    def __hash__(self) -> int:
        return hash(self.id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sym) and self.id == other.id


NOT_TENSORS = frozenset({"number", "str", "sequence", "callable", "array", "name"})


class Dotted(Struct, frozen=True):
    """A function, class or constant of a framework or another library, by its dotted name."""

    name: str


class ModuleValue(Struct, frozen=True):
    """A module of the project, by the path of its file."""

    path: str


class Imported(Struct, frozen=True):
    """The value of a variable that `from module import name` binds, until it is first read."""

    path: str
    name: str


class Tuple(Struct, frozen=True):
    """
    A Python tuple; `exact`: `items` are certainly all its items.

    `fields` are the names of a named tuple, and `cls` its class where the program defines that.
    """

    items: tuple[Value, ...]
    exact: bool = True
    fields: tuple[str, ...] = ()
    cls: ClassValue | None = None


class SliceValue(Struct, frozen=True):
    """A slice object inside a subscript."""

    lower: Value
    upper: Value
    step: Value


class Closure(Struct, frozen=True):
    """
    A Python function with its environment and defaults.

    `modes` are the modes that a decorator enters around each call; `wrapper` is "", "static", "class", "property", or
    "cached" for a property that becomes an attribute.
    `manages`: it is a generator that `contextlib.contextmanager` decorates. `caches`: later calls on equal arguments
    return the same object, as of a function under `functools.lru_cache`. `managers` are the context managers of the
    program that decorators enter around each call. `unread` are the decorators of which nothing is known, as written.
    `abstract`: a decorator says that derived classes define it.
    """

    function: Function
    module: str
    env: Ref | None
    defaults: tuple[tuple[str, Value], ...] = ()
    owner: ClassValue | None = None
    modes: tuple[tuple[str, Value], ...] = ()
    wrapper: str = ""
    manages: bool = False
    caches: bool = False
    managers: tuple[Value, ...] = ()
    unread: tuple[str, ...] = ()
    abstract: bool = False

    @property
    def optional(self) -> frozenset[str]:
        """The names of the parameters that have a default."""
        return frozenset(name for name, _ in self.defaults)


class ClassValue(Struct, frozen=True, eq=False):
    """
    A class of the program, one object a definition.

    `bases` are the values of the base expressions, `methods` the slices of the methods, which are lowered on first use,
    `meta` is the metaclass that it has or inherits, if that is one of the program.
    """

    name: str
    qualname: str
    module: str
    bases: tuple[Value, ...]
    slice: Slice
    methods: Mapping[str, Slice]
    is_data: bool = False
    env: Ref | None = None
    meta: ClassValue | None = None


class Bound(Struct, frozen=True):
    """A function or class attribute bound to its receiver."""

    receiver: Value
    function: Value


class Partial(Struct, frozen=True):
    """`functools.partial(function, *args, **keywords)`."""

    function: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


class Super(Struct, frozen=True):
    """`super()` inside a method of `owner`, on `receiver`."""

    owner: ClassValue
    receiver: Value


class Builtin(Struct, frozen=True):
    """A Python builtin, or a method of a builtin type on `receiver`."""

    name: str
    receiver: Value | None = None


Value = (
    Const
    | Ref
    | Sym
    | Dotted
    | ModuleValue
    | Imported
    | Tuple
    | SliceValue
    | Closure
    | ClassValue
    | Bound
    | Partial
    | Super
    | Builtin
)

NONE = Const(None)
NEW_TUPLE = Dotted("collections.namedtuple()")  # a partial call of it is the class that `namedtuple` returns
PARTIAL_METHOD = Builtin("partialmethod")  # a partial call of it is a method, whose first argument is its object
NAMES = "vars"  # the builtin that is the mapping of the names of a module, or of the attributes of an object


def is_key(value: Value) -> bool:
    """Check whether a value can be the key of a known dict: a constant, class, object, tuple of these, a name."""
    if isinstance(value, Tuple):
        return value.exact and all(not isinstance(item, Sym) and is_key(item) for item in value.items)
    return isinstance(value, Const | Dotted | ClassValue | Builtin | Ref) or (
        isinstance(value, Sym) and value.kind == "name"
    )


Certain = Const | Dotted | ClassValue | Closure | Builtin  # whether two of these are equal is certain


def may_be_key(value: Value) -> bool:
    """Check whether a dict may keep an item under a value: a known key, or an unknown value, which equals itself."""
    if isinstance(value, Tuple):
        return value.exact and all(map(may_be_key, value.items))
    return isinstance(value, Sym) or is_key(value)


def of_set(items: Sequence[Value]) -> tuple[tuple[Value, ...], bool]:
    """Return the items that a set of some has, and whether it is certain: an unknown value may equal any other."""
    found: dict[object, Value] = {}
    for item in items:
        found.setdefault(_whole_key(item), item)
    return tuple(found.values()), len(items) <= 1 or not any(map(_is_open, items))


def _whole_key(item: Value) -> object:
    return tuple(map(_whole_key, item.items)) if isinstance(item, Tuple) else key_of(item)


def _is_open(item: Value) -> bool:
    return isinstance(item, Sym) or (isinstance(item, Tuple) and any(map(_is_open, item.items)))


def is_absent(keys: Collection[object], key: Value) -> bool:
    """Check whether none of the keys of a dict is equal to another key: the name of a parameter may be any text."""
    named = isinstance(key, Sym)
    return key_of(key) not in keys and all(isinstance(other, Sym) is named for other in keys)


def key_of(value: Value) -> object:
    """Return the key that a dict has for a value."""
    return value.value if isinstance(value, Const) else value


def of_key(key: object) -> Value:
    """Return the value that a key of a dict stands for."""
    return key if isinstance(key, Dotted | ClassValue | Builtin | Ref | Tuple | Sym) else Const(key)
