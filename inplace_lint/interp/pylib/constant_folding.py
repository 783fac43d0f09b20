"""
Constant folding: Python itself computes a pure function, method or operator whose arguments are all known.

    sorted({"b", "a"})[0]    "resnet50".split("_")[-1]    max(widths)    "%s_%d" % (name, 3)    [1, 2] == [1, 2]

Which module a constructor creates often depends on such values.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import datetime as dt
import enum
import heapq
import itertools
import json
import math
import operator
import pathlib
import posixpath
import re
import shlex
import string
import struct
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from inplace_lint.domain.heap import DictObject, ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Builtin, Const, Ref, SliceValue, Sym, Tuple, Value, of_key
from inplace_lint.interp.pylib.releases import Release

_MOST = 256  # items of a container, and characters of a string that grows
_LARGEST = 2**31
_DIGITS = 64

_NAMES = (
    "abs", "bin", "bool", "chr", "complex", "divmod", "float", "format", "hex", "int", "max", "min", "oct", "ord",
    "pow", "repr", "round", "sorted", "str", "sum",
)  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., object]] = {name: getattr(builtins, name) for name in _NAMES}
_OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "eq", "ne", "lt", "le", "gt", "ge", "not_", "and_",
    "or_", "xor", "getitem", "contains",
)  # fmt: skip
CONSTANTS: dict[str, Const] = {  # `math.inf`, `string.digits`
    f"{module.__name__}.{name}": Const(value)
    for module in (math, string)
    for name, value in vars(module).items()
    if isinstance(value, float | str) and not name.startswith("_")
}
CONSTANTS |= {f"numpy.{name}": Const(getattr(math, name)) for name in ("pi", "e", "inf")}
CONSTANTS["sys.maxsize"] = Const(2**63 - 1)


def _of_numbers(called: Callable[..., float]) -> Callable[..., float]:
    """Return a function of NumPy as Python has it for one number; it raises a TypeError for all others."""
    return lambda one: float(called(one + 0.0))


def _product(items: float | Sequence[float]) -> float:
    return math.prod(one + 0 for one in ([items] if isinstance(items, int | float) else items))


_STDLIB: dict[str, Callable[..., object]] = {
    **{f"math.{name}": function for name, function in vars(math).items() if callable(function)},
    **{f"operator.{name}": getattr(operator, name) for name in _OPERATORS},
    **{f"os.path.{name}": getattr(posixpath, name) for name in ["join", "basename", "dirname", "splitext", "split"]},
    **dict.fromkeys(
        [
            "packaging.version.parse",
            "packaging.version.Version",
            "pkg_resources.parse_version",
            "distutils.version.LooseVersion",
            "distutils.version.StrictVersion",
            "looseversion.LooseVersion",
        ],
        Release,
    ),
    "decimal.Decimal": lambda *given: import_module("decimal").Decimal(*given),  # both take long to import
    "fractions.Fraction": lambda *given: import_module("fractions").Fraction(*given),
    **{f"pathlib.{name}": pathlib.PurePosixPath for name in ["Path", "PosixPath", "PurePath", "PurePosixPath"]},
    **{f"datetime.{name}": getattr(dt, name) for name in ["date", "datetime", "time", "timedelta"]},
    **{f"bisect.{name}": getattr(bisect, name) for name in ["bisect", "bisect_left", "bisect_right"]},
    **{f"heapq.{name}": getattr(heapq, name) for name in ["nlargest", "nsmallest"]},
    "ast.literal_eval": ast.literal_eval,
    "json.loads": json.loads,
    "json.dumps": json.dumps,
    "textwrap.dedent": textwrap.dedent,
    "shlex.split": shlex.split,
    "struct.calcsize": struct.calcsize,
    "itertools.accumulate": lambda items: list(itertools.accumulate(items)),
    **{
        f"re.{name}": getattr(re, name)
        for name in ["compile", "escape", "findall", "fullmatch", "match", "search", "split", "sub"]
    },
}
_OF_ARRAYS: dict[str, Callable[..., object]] = {  # these raise no error where Python does
    **{f"numpy.{name}": _of_numbers(getattr(math, name)) for name in ["ceil", "exp", "floor", "log", "log2", "sqrt"]},
    "numpy.prod": _product,
}
_CHANGING: dict[str, Callable[..., object]] = {  # functions that change the list that they are given first
    **{f"bisect.{name}": getattr(bisect, name) for name in ["insort", "insort_left", "insort_right"]},
    **{f"heapq.{name}": getattr(heapq, name) for name in ["heapify", "heappop", "heappush", "heappushpop"]},
}
_OF_TEXT = frozenset({"str", "repr", "format"})  # ranges and views of dicts are tuples here, whose text differs
_GROWING = frozenset(
    {
        "ast.literal_eval",
        "json.loads",
        "pow",
        "math.pow",
        "math.factorial",
        "math.perm",
        "math.comb",
        "operator.mul",
        "*",
        "**",
        "<<",
    }
)
_EXACT = frozenset({"decimal.Decimal", "fractions.Fraction"})
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(name for name in dir(str) if not name.startswith("_")) - {"maketrans", "translate"},
    bytes: frozenset({"decode", "startswith", "endswith"}),
    int: frozenset({"bit_length"}),
    float: frozenset({"is_integer"}),
    list: frozenset({"index", "count"}),
    set: frozenset(name for name in dir(set) if name.startswith(("is", "union", "inter", "diff", "symm")))
    - {"intersection_update", "difference_update", "symmetric_difference_update"},
    tuple: frozenset({"index", "count"}),
    Counter: frozenset({"most_common", "total"}),
    re.Match: frozenset({"end", "group", "groupdict", "groups", "span", "start"}),
    re.Pattern: frozenset({"findall", "fullmatch", "match", "search", "split", "sub"}),
    pathlib.PurePosixPath: frozenset(
        {"as_posix", "is_absolute", "is_relative_to", "joinpath", "match", "relative_to", "with_name", "with_suffix"}
    ),
    dt.timedelta: frozenset({"total_seconds"}),
    **dict.fromkeys((dt.date, dt.datetime), frozenset({"isoformat", "isoweekday", "strftime", "weekday"})),
}
_PARTS: dict[type, frozenset[str]] = {
    **dict.fromkeys((bool, int), frozenset({"denominator", "imag", "numerator", "real"})),
    **dict.fromkeys((complex, float), frozenset({"imag", "real"})),
    pathlib.PurePosixPath: frozenset({"name", "parent", "parts", "stem", "suffix", "suffixes"}),
    dt.timedelta: frozenset({"days", "microseconds", "seconds"}),
    dt.date: frozenset({"day", "month", "year"}),
    dt.datetime: frozenset({"day", "hour", "minute", "month", "second", "year"}),
}
_SLOW = re.compile(r"\)[*+{]|(?:[*+{].*){4}")  # patterns that could take long for a text
OPERATORS: dict[str, Callable[[Any, Any], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "[]": operator.getitem,
}


class _Unknown(Exception):  # noqa: N818 - not an error: such a value is no constant
    """Raised for a value that is not completely known, or that is no plain Python value."""


def function(state: State, name: str, values: Sequence[Value], keywords: Sequence[tuple[str, Value]]) -> Value | None:
    """Evaluate a builtin, or a function of the standard library by its full name, on constants; None if impossible."""
    called = _FUNCTIONS.get(name) or _STDLIB.get(name) or _OF_ARRAYS.get(name)
    if called is None and name in _CHANGING:
        return _changed(state, _CHANGING[name], values)
    return None if called is None else _applied(state, name, called, values, dict(keywords))


def _changed(state: State, called: Callable[..., object], values: Sequence[Value]) -> Value | None:
    """Return what a function gives that changes a list of constants, and change the list; None if impossible."""
    first = values[0] if values else None
    inner = state.object(first) if isinstance(first, Ref) else None
    if not isinstance(inner, ListObject) or not isinstance(first, Ref) or any(isinstance(v, Ref) for v in values[1:]):
        return None
    try:
        items, *given = [_python(state, value) for value in values]
        result = _value(state, called(items, *given))
        state.put(first, replace(inner, items=tuple([_value(state, item) for item in items])))
    except (_Unknown, TypeError, LookupError):
        return None
    return result


def error_of(state: State, name: str, values: Sequence[Value], keywords: Sequence[tuple[str, Value]]) -> Builtin | None:
    """Return the exception that a function of this kind raises for constants, as `int("a")` does; None if none."""
    called = _FUNCTIONS.get(name) or _STDLIB.get(name)
    try:
        given = [_python(state, value) for value in values]
        options = {key: _python(state, value) for key, value in keywords}
        if called is not None and name not in _GROWING:
            called(*given, **options)
    except (ArithmeticError, ValueError) as error:
        return Builtin(type(error).__name__)
    except (_Unknown, TypeError, LookupError, AttributeError):
        pass
    return None


def method(
    state: State, name: str, receiver: Value, values: Sequence[Value], keywords: Sequence[tuple[str, Value]]
) -> Value | None:
    """
    Evaluate a pure method of a string, number, list or tuple on constants; None if impossible.

    The text of an option in small letters stands for the option: what is compared with it is in small letters, too.
    """
    for kind, names in _METHODS.items():
        if name in names and _is(state, receiver, kind):
            full = f"re.{name}" if kind is re.Pattern else name
            found = _applied(state, full, getattr(kind, name), (receiver, *values), dict(keywords))
            if isinstance(receiver, Const) and isinstance(found, Const) and name in IDEMPOTENT and not values:
                return Const(found.value, source=receiver.source)
            return found
    return None


def part(state: State, value: Const, name: str) -> Value | None:
    """Return the class of a constant, or a part of a number, a path or a date; None for any other attribute."""
    if name == "__class__":
        return Builtin(type(value.value).__name__)
    return _value(state, getattr(value.value, name)) if name in _PARTS.get(type(value.value), ()) else None


IDEMPOTENT = frozenset({"lower", "upper", "casefold", "strip", "lstrip", "rstrip", "title", "capitalize"})


def binary(state: State, op: str, left: Value, right: Value) -> Value | None:
    """Evaluate `left op right`, or `left[right]` for the operator `[]`, on constants; None if impossible."""
    called = OPERATORS.get(op)
    return None if called is None else _applied(state, op, called, (left, right), {})


def beside_unknown(op: str, left: Value, right: Value) -> Value | None:
    """
    Evaluate an operator on a constant and an unknown number where 0 and 1 decide; None where they do not.

        step = epoch * len(loader) + i    # 0 in the first turn
        if step % every == 0:             # and so it is here
    """
    match left, op, right:
        case (Const(0) as zero, "*" | "%" | "//", Sym(_, "number")) | (Sym(_, "number"), "*", Const(0) as zero):
            return zero
        case (Const(0), "+", Sym(_, "number") as same) | (Sym(_, "number") as same, "+" | "-", Const(0)):
            return same
        case (Const(1), "*", Sym(_, "number") as same) | (Sym(_, "number") as same, "*", Const(1)):
            return same
        case _:
            return None


def _is(state: State, value: Value, kind: type) -> bool:
    match value:
        case Const(constant):
            return type(constant) is kind or (kind is str and type(constant) is Release)
        case Tuple():
            return kind is tuple
        case _:
            inner = state.object(value)
            if isinstance(inner, DictObject):
                return kind is Counter and inner.default is not None
            return isinstance(inner, ListObject) and inner.kind == kind.__name__


def _applied(
    state: State, name: str, called: Callable[..., object], values: Sequence[Value], keywords: Mapping[str, Value]
) -> Value | None:
    try:
        given = [_python(state, value) for value in values]
        options = {key: _python(state, value) for key, value in keywords.items()}
        if name in _GROWING and not all(_is_small(value) for value in given):
            return None
        if name in _EXACT and not all(len(str(value)) <= _DIGITS and "e" not in str(value).lower() for value in given):
            return None
        if name.startswith("re.") and not _is_quick(given):
            return None
        if name in _OF_TEXT and not all(isinstance(value, Const) for value in values):
            return None
        return _value(state, called(*given, **options))
    except (_Unknown, ArithmeticError, TypeError, ValueError, LookupError, AttributeError, SyntaxError, re.error):
        # Where Python raises, the program does not go on; the result is unknown.
        return None


def _is_exact(value: object) -> bool:
    """Check whether a value is a decimal number, a fraction, a date or a path that is not looked for on any disk."""
    return type(value).__module__ in {"datetime", "decimal", "fractions", "pathlib"}


def _is_small(value: object) -> bool:
    if isinstance(value, int | float):
        return abs(value) <= 64  # noqa: PLR2004 - keeps numbers and strings small
    if _is_exact(value):
        return len(str(value)) <= _DIGITS
    return isinstance(value, str | tuple | list) and len(value) <= _MOST


def _is_quick(given: Sequence[object]) -> bool:
    """Check whether a pattern and the texts that it is applied to are such that no search in them takes long."""
    pattern = given[0].pattern if isinstance(given[0], re.Pattern) else given[0]
    texts = [value for value in given[1:] if isinstance(value, str)]
    return isinstance(pattern, str) and not _SLOW.search(pattern) and all(len(text) <= _MOST for text in texts)


def order(state: State, keys: Sequence[Value], *, reverse: bool) -> list[int] | None:
    """Return the places of keys in their order, equal ones as they come; None where that is not known."""
    try:
        known = [_comparable(state, key) for key in keys]
        return sorted(range(len(known)), key=known.__getitem__, reverse=reverse)
    except (_Unknown, TypeError):
        return None


def _comparable(state: State, key: Value) -> Any:  # noqa: ANN401 - any plain value
    """Return a key to sort by; what is not known of it may stand after what decides."""
    if isinstance(key, Tuple) and key.exact:
        return tuple([_comparable(state, item) for item in key.items])
    try:
        return _python(state, key)
    except _Unknown:
        return _Undecided()


class _Undecided:
    """What cannot be compared: `_Unknown` is raised where that is asked for."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise _Unknown

    __lt__ = __gt__ = __eq__


def _python(state: State, value: Value) -> Any:  # noqa: ANN401 - any plain value
    """Return a known symbolic value as a plain Python value; raise `_Unknown` for any other."""
    match value:
        case Const(constant):
            return constant
        case SliceValue(lower, upper, step):
            return slice(_python(state, lower), _python(state, upper), _python(state, step))
        case Tuple(items, True) if len(items) <= _MOST:
            return tuple(_python(state, item) for item in items)
        case Ref():
            inner = state.object(value)
            if isinstance(inner, ListObject) and inner.exact and inner.kind in {"list", "set"}:
                found = [_python(state, item) for item in inner.items[: _MOST + 1]]
                if len(found) <= _MOST:
                    return set(found) if inner.kind == "set" else found
            if isinstance(inner, DictObject) and inner.exact and inner.factory is None and len(inner.items) <= _MOST:
                known = {_python(state, of_key(key)): _python(state, item) for key, item in inner.items.items()}
                return known if inner.default is None else Counter(known)
        case _:
            pass
    raise _Unknown


def _value(state: State, result: object) -> Value:
    """Return a plain Python value as a symbolic one; items of a set are sorted, so that results are reproducible."""
    match result:
        case bool() | float() | None | bytes() | complex() | re.Match() | re.Pattern() | enum.Enum():
            return Const(result)
        case _ if _is_exact(result) and len(str(result)) <= _DIGITS:
            return Const(result)
        case int() if abs(result) <= _LARGEST:
            return Const(result)
        case str() if len(result) <= _MOST * 16:
            return Const(result)
        case tuple():
            return Tuple(tuple(_value(state, item) for item in result))
        case dict() if len(result) <= _MOST and all(isinstance(key, str | int) for key in result):
            return state.new(DictObject({key: _value(state, item) for key, item in result.items()}))
        case list() if len(result) <= _MOST:
            return state.new(ListObject(tuple(_value(state, item) for item in result)))
        case set():
            ordered = sorted(result, key=lambda item: (type(item).__name__, repr(item)))
            return state.new(ListObject(tuple(_value(state, item) for item in ordered), kind="set"))
        case _:
            raise _Unknown
