"""
Options of a command line: what they are where nobody passes them.

    parser.add_argument("--kind", default="mean")
    args = parser.parse_args()        # args.kind may be any text; where one side only can be followed, it is "mean"
    args = parser.parse_args([])      # args.kind is "mean"
    args = parser.parse_args(["--kind", "max"])  # args.kind is "max"
    parser.set_defaults(kind="sum")   # then "sum"
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from msgspec.structs import replace

from inplace_lint.domain import origins, traits
from inplace_lint.domain.heap import ListObject
from inplace_lint.domain.state import State
from inplace_lint.domain.traits import Option
from inplace_lint.domain.values import NONE, Builtin, Const, Dotted, Sym, SymId, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.pylib import constant_folding

_PARSER = "argparse.ArgumentParser"
_SWITCHES = {"store_true": False, "store_false": True}
_GROUPS = frozenset({"add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"})


def note(state: State, function: Sym, arguments: Arguments, result: Sym) -> None:
    """Note the option that a method of a parser adds, or what the attributes of its result are by default."""
    match state.symbols.key(function):
        case (origins.ATTRIBUTE, int(owner), str(name)) if name in _METHODS:
            parser = _parser(state, SymId(owner))
            if parser is not None:
                _METHODS[name](state, parser, arguments, result)
        case _:
            pass


def _parser(state: State, number: SymId) -> SymId | None:
    """Return the parser that a value is, or is a group of; None for any other value."""
    match state.symbols.keys[number]:
        case (origins.RESULT, Dotted(name), *_) if name == _PARSER:
            return number
        case (origins.RESULT, Sym(method), *_):
            made = state.symbols.keys[method]
        case _:
            return None
    match made:
        case (origins.ATTRIBUTE, int(owner), str(name)) if name in _GROUPS:
            return _parser(state, SymId(owner))
        case _:
            return None


def only_reads(state: State, function: Value) -> bool:
    """Check whether a call is of a method of a parser: it leaves the lists that it is given as they are."""
    match state.symbols.key(function) if isinstance(function, Sym) else None:
        case (origins.ATTRIBUTE, int(owner), str(name)) if name in _METHODS:
            return _parser(state, SymId(owner)) is not None
        case _:
            return False


def _add(state: State, parser: SymId, arguments: Arguments, _result: Sym) -> None:
    flags = [flag.value for flag in arguments.positional if isinstance(flag, Const) and isinstance(flag.value, str)]
    given = dict(arguments.keywords)
    option = Option("", None, (), None)  # one of which nothing is known
    if not arguments.unknown and flags and len(flags) == len(arguments.positional):
        long = next((flag for flag in flags if flag.startswith("--")), flags[0])
        name = given.get("dest", Const(long.lstrip("-").replace("-", "_")))
        default = _default(state, given) if flags[0].startswith("-") and given.get("required", NONE) == NONE else None
        if isinstance(name, Const) and isinstance(name.value, str):
            option = Option(name.value, default, tuple(flags), _settings(given))
    state.set_trait(traits.OPTIONS, parser, (*(state.trait(traits.OPTIONS, parser) or ()), option))


def _default(state: State, given: Mapping[str, Value]) -> Const | None:
    """Return the value of an option that is not passed; None where it is not known."""
    default: Value | None = given.get("default", NONE)
    action, made = given.get("action", NONE), given.get("type", NONE)
    if isinstance(action, Const) and action.value in _SWITCHES and "default" not in given:
        return Const(_SWITCHES[action.value])
    if isinstance(default, Const) and isinstance(default.value, str) and made != NONE:  # the type is applied to a text
        default = constant_folding.function(state, made.name, (default,), ()) if isinstance(made, Builtin) else None
    return Const(default.value) if isinstance(default, Const) else None


def _settings(given: Mapping[str, Value]) -> tuple[tuple[str, Any], ...] | None:
    """Return how Python's parser reads an option; None where that is not known."""
    found = {name: given[name] for name in _READING if name in given}
    made = given.get("type", NONE)
    if any(not isinstance(value, Const) for value in found.values()):
        return None
    settings: dict[str, Any] = {name: value.value for name, value in found.items() if isinstance(value, Const)}
    if settings.get("action") == "count":
        return (("action", "append_const"), ("const", None))
    if settings.get("action", "store") not in _ACTIONS:  # others print, end the program or are its own
        return None
    if made != NONE:
        settings["type"] = _TYPES.get(made.name, _unknown) if isinstance(made, Builtin) else _unknown
    return tuple(settings.items())


def _unknown(text: str) -> list[str]:
    return [text]


def _set_defaults(state: State, parser: SymId, arguments: Arguments, _result: Sym) -> None:
    given = dict(arguments.keywords)
    known = () if arguments.unknown else state.trait(traits.OPTIONS, parser) or ()
    kept = [replace(option, default=None) if option.name in given else option for option in known]
    new = (Option(name, Const(value.value), (), ()) for name, value in given.items() if isinstance(value, Const))
    state.set_trait(traits.OPTIONS, parser, (*kept, *new))


def _describe(state: State, parser: SymId, arguments: Arguments, result: Sym) -> None:
    options = state.trait(traits.OPTIONS, parser) or ()
    usual = {option.name: option.default for option in options if option.default is not None}
    words = next(iter(arguments.values), NONE)
    if words != NONE:
        for name, value in _read(state, options, usual, words).items():
            if isinstance(value, bool | int | float | str | None):
                state.set_trait(traits.UNKNOWN_ATTRIBUTE, (result.id, name), Const(value))
        return
    for name, default in usual.items():
        option = state.symbols.sym((origins.ATTRIBUTE, result.id, name), _KINDS.get(type(default.value), ""))
        state.set_trait(traits.DEFAULT, option.id, default)
        state.set_trait(traits.UNKNOWN_ATTRIBUTE, (result.id, name), option)


def _read(state: State, options: tuple[Option, ...], usual: Mapping[str, Const], words: Value) -> dict[str, object]:
    """Return what Python's own parser makes of words that are known; what is no constant there is not known."""
    given = state.object(words)
    if not isinstance(given, ListObject) or not given.exact:
        return {}
    texts = [word.value for word in given.items if isinstance(word, Const) and isinstance(word.value, str)]
    if len(texts) < len(given.items):
        return {}
    defaults = {name: default.value for name, default in usual.items()}
    if not texts:
        return defaults
    parser = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    try:
        for option in options:
            if option.settings is None and not any(flag.startswith("-") for flag in option.flags):
                return {}
            if option.settings is not None and option.flags:  # else a word for it does not fit
                parser.add_argument(*option.flags, **dict(option.settings))
        return {**defaults, **vars(parser.parse_args(texts))}
    except (argparse.ArgumentError, TypeError, ValueError):
        return {}


class _Parser(argparse.ArgumentParser):
    """A parser that does not end the process where words do not fit."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _describe_first(state: State, parser: SymId, arguments: Arguments, result: Sym) -> None:
    _describe(state, parser, arguments, state.symbols.sym((origins.ITEM, result, Const(0))))


_ACTIONS = frozenset({"store", "store_const", "store_true", "store_false", "append", "append_const", "extend"})
_READING = ("action", "nargs", "const", "dest")
_TYPES: Mapping[str, type] = {"int": int, "float": float, "str": str, "bool": bool}
_KINDS: Mapping[type, str] = {bool: "number", int: "number", float: "number", str: "str"}
_METHODS: Mapping[str, Callable[[State, SymId, Arguments, Sym], None]] = {
    "add_argument": _add,
    "parse_args": _describe,
    "parse_known_args": _describe_first,
    "set_defaults": _set_defaults,
}
