"""
What a framework call does to memory and to autograd: the frozen form of one entry of an op table.

The text form is described in `rules/ops/README.md`; this module reads it and knows nothing of any framework.

    {"op": "torch.exp", "args": ["self"], "saves": [{"of": "out0"}], "returns": [{"is": "fresh"}]}

is `Op("torch.exp", args=(Argument("self"),), saves=(SaveFact("out0"),), returns=(ReturnFact(Result.FRESH),))`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge.argument import Argument, arguments, name_of
from inplace_lint.knowledge.guard import Atom, Guard, Many, Not, Test, atoms, parse, parse_use
from inplace_lint.knowledge.schema import (
    Reader,
    Schema,
    each,
    flag,
    mistaken,
    mistyped,
    number,
    table,
    text,
    unknown,
    word,
)
from inplace_lint.knowledge.shape_fact import ShapeFact, parse_shape
from inplace_lint.knowledge.versions import version_range
from inplace_lint.knowledge.words import (
    ACTS,
    AMBIENT,
    Check,
    Device,
    DType,
    History,
    Moves,
    PartDType,
    Result,
    ValueKind,
    ViewKind,
)


class StatePart(Struct, frozen=True):
    """
    A parameter (`param`) or buffer of a module, present under `condition`; a `made` part is a module or function.

    Its `dtype` is that which the module is made with, where that is `SAME`. A module is constructed with `given`
    arguments, each that of the outer constructor which is named, or another module. The argument `options` says
    whether a parameter is trained; there is none where it is False. A container has `copies` of the argument that is
    named first, as many as the second says; with that name alone the part is a copy of it.
    """

    name: str
    param: bool = False
    made: str = ""
    given: tuple[tuple[str, str | StatePart], ...] = ()
    copies: tuple[str, ...] = ()
    options: str = ""
    condition: Guard | None = None
    dtype: PartDType = PartDType.SAME
    shape: ShapeFact | None = None


class SaveFact(Struct, frozen=True):
    """
    What backward keeps: an argument, `self.weight`, or `out0`; a `copy` never goes stale.

    It is not `checked` when the framework keeps it behind its version counter. Backward reads it only if `used`. What
    is kept is a `view` of it where that keeps its memory when the argument is given other memory.
    """

    of: str
    condition: Guard | None = None
    copy: bool = False
    checked: bool = True
    used: Guard | None = None
    view: bool = False


class HandFact(Struct, frozen=True):
    """
    An argument to which backward hands the gradient of the result on, all of it and without a copy.

    `expanded`: its own elements repeat those of that gradient.
    """

    of: str
    condition: Guard | None = None
    expanded: bool = False


class WriteFact(Struct, frozen=True):
    """An argument (or `self.running_mean`) that the call writes, and the checks the framework makes before."""

    to: str
    counted: bool
    checks: frozenset[Check] = frozenset()
    condition: Guard | None = None
    moves: Moves = Moves.OTHER


class ReturnFact(Struct, frozen=True):
    """
    One alternative of what the call returns; the fields are those of `rules/ops/README.md`.

    `kind` is a `Result`, or the name of the argument that is returned.
    """

    kind: str
    condition: Guard | None = None
    of: str = ""
    view: ViewKind = ViewKind.SINGLE
    contiguous: bool | None = None
    follows: bool = False
    turned: bool = False
    moves: Moves = Moves.OTHER
    dtype: DType = DType.SAME
    shape: ShapeFact | None = None
    leaf: bool = False
    rg: Guard | None = None
    items: tuple[ReturnFact, ...] = ()
    length: int | str | None = None
    value: ValueKind = ValueKind.UNKNOWN


class Becoming(Struct, frozen=True):
    """Under `condition` the call is a call of `op`."""

    op: str
    condition: Guard | None = None


class Step(Struct, frozen=True, eq=False):
    """
    A method or attribute of the receiver that a template method calls, `to`, on arguments of its own.

    An argument that has a name of `lifts` at its end is what the op `by` makes of the one without that; of a pair, of
    the part with this position. With `on` or `given` these are all its arguments: names of arguments of the template
    method, and keywords with such a name or a constant. The next step takes the result, or the part `item` of it.
    Of one that makes what a configuration asks for, `to` is the class for types `when`, `needs` what its items must be.
    """

    to: str
    on: tuple[str, ...] = ()
    given: Mapping[str, str | bool] = field(default_factory=dict)
    item: int | None = None
    lifts: Mapping[str, int] = field(default_factory=dict)
    by: str = ""
    when: tuple[str, ...] = ()
    name: str = ""
    needs: Mapping[str, bool] = field(default_factory=dict)


class Op(Struct, frozen=True):
    """One form of a framework call."""

    name: str
    args: tuple[Argument, ...] = ()
    condition: Guard | None = None
    init: tuple[Argument, ...] | None = None
    derives: tuple[str, ...] = ()
    repeats: Mapping[str, int] = field(default_factory=dict)
    state: tuple[StatePart, ...] = ()
    becomes: tuple[Becoming, ...] = ()
    writes: tuple[WriteFact, ...] = ()
    saves: tuple[SaveFact, ...] = ()
    grads: tuple[str, ...] | None = None
    hands: tuple[HandFact, ...] = ()
    returns: tuple[ReturnFact, ...] = ()
    history: History = History.REBASE
    act: str = ""
    steps: tuple[Step, ...] = ()
    versions: str = ""

    @property
    def weights(self) -> tuple[str, ...]:
        """The parameters and parts of a module; of one without such, what its constructor was given."""
        if self.init is None:
            return ()
        parts = [part.name for part in self.state if part.param or part.made]
        return tuple([f"self.{name}" for name in parts or [argument.name for argument in self.init]])


def is_named(row: object) -> bool:
    """Return whether an entry has an op, and spellings of it that are texts."""
    if not isinstance(row, dict) or not isinstance(row.get("op"), str):
        return False
    spellings = row.get("same", [])
    return isinstance(spellings, list) and {*map(type, spellings)} <= {str}


def op_of(row: object, name: str | None = None) -> Op:
    """
    Return the op of one entry, under another of its spellings if `name` is given.

    Raises: `FactError` naming the key or word at fault.
    """
    if not isinstance(row, dict):
        raise FactError(ONE_ENTRY)
    op = Op(**ENTRY.read(row))
    known = {name_of(one) for one in (*row.get("args", ()), *row.get("init", ()))}
    known.update([f"self.{part}" for part in row.get("state", ())])
    named = (op.condition, op.state, op.becomes, op.writes, op.saves, op.grads, op.hands, op.returns)
    used = {one for one in _used(named) if isinstance(one, str) and one not in _NO_NAMES}
    absent = [one for one in used - known if not _is_elsewhere(one, known, row)]
    if absent:  # what `self` has is known only in the entry of a module
        raise mistaken(min(absent), f"neither an argument nor a result of {op.name}", {*known, *RESULTS})
    return op if name is None else replace(op, name=name)


def _is_elsewhere(name: str, known: set[str], row: Mapping[str, object]) -> bool:
    """Check whether a name is of a module's state, which its own entry knows, or of what a part or an argument has."""
    owner = re.match(r"(self\.)?\w+", name)
    return (name.startswith("self.") and "state" not in row) or (owner is not None and owner[0] in known)


def _state(value: object) -> tuple[StatePart, ...]:
    if not isinstance(value, dict):
        raise mistyped(value, "an object")
    return tuple(StatePart(name, **_PART.read(part)) for name, part in value.items())


def _given(value: object) -> str | StatePart:
    """Read the name of an argument, or a module that is made to be one."""
    return StatePart("", **_PART.read(value)) if isinstance(value, dict) else text(value)


def _act(value: object) -> str:
    act = text(value)
    if act not in ACTS:
        raise unknown(act, "act", ACTS)
    return act


def _size(value: object) -> int | str | None:
    """Read a number, or the name of the argument that gives it."""
    if type(value) not in {int, str, type(None)}:
        raise mistyped(value, "a number or the name of an argument")
    return cast("int | str | None", value)


def _kind(value: object) -> str:
    name = text(value)
    return Result(name) if name in RESULTS else name


def _return(value: object) -> ReturnFact:
    if not isinstance(value, dict):
        raise mistyped(value, "an object")
    kind = str(value.get("is", ""))
    if kind not in RESULTS and not value.keys() <= _ARGUMENT.keys.keys():
        raise unknown(kind, "kind of result with these keys", RESULTS)
    return ReturnFact(**RESULTS.get(kind, _ARGUMENT).read(value))


def _used(part: object) -> Iterator[object]:
    """Yield the names of arguments that a part of an op refers to."""
    match part:
        case str():
            yield part
        case tuple():
            for one in part:
                yield from _used(one)
        case WriteFact(to=name) | SaveFact(of=name):
            yield from () if _OUTPUT.fullmatch(name) else (name,)
        case ReturnFact(kind=kind, of=of, shape=shape, length=length):
            yield from (kind, of, length)
            yield from _used((part.items, part.rg, shape))
        case ShapeFact(args=names):
            yield from (name for name in names if isinstance(name, str) and not name.startswith("self."))
        case Atom() | Test() | Not() | Many():
            yield from (name for atom in atoms(part) for name in atom.args)
        case _:
            pass
    if isinstance(part, StatePart | Becoming | WriteFact | SaveFact | HandFact | ReturnFact):
        yield from _used(part.condition)
    if isinstance(part, SaveFact):
        yield from _used(part.used)


ONE_ENTRY = "a line holds one entry: {...}"
_OUTPUT = re.compile(r"out\d+")
_NO_NAMES = {"", "same", *Result, *AMBIENT}

_IF = ("condition", parse)
_LAYOUT = ("contiguous", flag)
_SHAPE = ("shape", parse_shape)
_SIZES: dict[str, tuple[str, Reader]] = {"dtype": ("dtype", word(DType, "dtype class")), "shape": _SHAPE}
_NEW: dict[str, tuple[str, Reader]] = {key: (key, flag) for key in ("leaf", "contiguous", "follows", "turned")}
_NEW["rg"] = ("rg", parse)
_MOVES = ("moves", word(Moves, "way to move memory"))
_PART = Schema(
    "a part of a state",
    {
        "param": ("param", flag),
        "buffer": ("", flag),
        "is": ("made", text),
        "with": ("given", lambda value: tuple(table(_given)(value).items())),
        "copies": ("copies", each(text)),
        "options": ("options", text),
        "if": _IF,
        "dtype": ("dtype", word(PartDType, "dtype of a part")),
        "shape": _SHAPE,
    },
)
_BECOMES = Schema('an item of "becomes"', {"op": ("op", text), "if": _IF}, ("op",))
_STEP = Schema(
    'an item of "calls"',
    {
        **{key: (key, text) for key in ("to", "by", "name")},
        **{key: (key, each(text)) for key in ("on", "when")},
        "with": ("given", table(lambda value: value if isinstance(value, bool) else text(value))),
        "item": ("item", number),
        "lifts": ("lifts", table(number)),
        "needs": ("needs", table(flag)),
    },
    ("to",),
)
WRITE = Schema(
    "a write",
    {
        "to": ("to", text),
        "counted": ("counted", flag),
        "checks": ("checks", lambda value: frozenset(each(word(Check, "check"))(value))),
        "if": _IF,
        "moves": _MOVES,
    },
    ("to", "counted"),
)
SAVE = Schema(
    "a save",
    {
        **{key: (key, flag) for key in ("copy", "checked", "view")},
        "of": ("of", text),
        "if": _IF,
        "used": ("used", parse_use),
    },
    ("of",),
)
_HAND = Schema("what is handed a gradient", {"of": ("of", text), "if": _IF, "expanded": ("expanded", flag)}, ("of",))
_BASE: dict[str, tuple[str, Reader]] = {"is": ("kind", _kind), "if": _IF}
_ARGUMENT = Schema("a result that is an argument", {**_BASE, "contiguous": _LAYOUT, "shape": _SHAPE}, ("is",))
_VIEW = Schema(
    "a result that is a view",
    {
        **_BASE,
        **_SIZES,
        "of": ("of", text),
        "kind": ("view", word(ViewKind, "kind of view")),
        "contiguous": _LAYOUT,
        "moves": _MOVES,
    },
)
RESULTS: dict[str, Schema] = {
    "fresh": Schema("a fresh result", {**_BASE, **_SIZES, **_NEW}),
    "view": _VIEW,
    "maybe": _VIEW,
    "self": _ARGUMENT,
    "list": Schema(
        "a list", {**_BASE, "item": ("items", lambda value: (_return(value),)), "length": ("length", _size)}, ("item",)
    ),
    "tuple": Schema("a tuple", {**_BASE, "items": ("items", each(_return))}, ("items",)),
    "value": Schema("a Python value", {**_BASE, "kind": ("value", word(ValueKind, "kind of value"))}),
}
ENTRY = Schema(
    "an entry",
    {
        "op": ("name", text),
        **{key: ("", each(text)) for key in ("same", "probed")},
        "if": _IF,
        "init": ("init", arguments),
        "derives": ("derives", each(text)),
        "repeats": ("repeats", table(number)),
        "state": ("state", _state),
        "args": ("args", arguments),
        "becomes": ("becomes", each(lambda value: Becoming(**_BECOMES.read(value)))),
        "writes": ("writes", each(lambda value: WriteFact(**WRITE.read(value)))),
        "saves": ("saves", each(lambda value: SaveFact(**SAVE.read(value)))),
        "grads": ("grads", each(text)),
        "hands": ("hands", each(lambda value: HandFact(**_HAND.read(value)))),
        "returns": ("returns", each(_return)),
        "history": ("history", word(History, "history")),
        "act": ("act", _act),
        "calls": ("steps", each(lambda value: Step(**_STEP.read(value)))),
        "versions": ("versions", version_range),
        "source": ("", text),
        "device": ("", word(Device, "device")),
    },
    ("op",),
)
