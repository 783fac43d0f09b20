"""
Options of a command line: what they are where nobody passes them.

    parser.add_argument("--kind", default="mean")
    args = parser.parse_args()        # args.kind may be any text; where one side only can be followed, it is "mean"
    args = parser.parse_args([])      # args.kind is "mean"
    parser.set_defaults(kind="sum")   # then "sum"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inplace_lint.domain import origins, traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import NONE, Builtin, Const, Dotted, Sym, SymId, Value
from inplace_lint.interp.frame import Arguments
from inplace_lint.interp.pylib import constant_folding
from inplace_lint.ir import nodes as ir

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


def _add(state: State, parser: SymId, arguments: Arguments, _result: Sym) -> None:
    flags = [flag.value for flag in arguments.positional if isinstance(flag, Const) and isinstance(flag.value, str)]
    if arguments.unknown or not flags or len(flags) < len(arguments.positional):
        return
    given = dict(arguments.keywords)
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    name = given.get("dest", Const(long.lstrip("-").replace("-", "_")))
    default = _default(state, given) if flags[0].startswith("-") and given.get("required", NONE) == NONE else None
    if isinstance(name, Const) and isinstance(name.value, str) and default is not None:
        known = state.trait(traits.OPTIONS, parser) or ()
        state.set_trait(traits.OPTIONS, parser, (*known, (name.value, default)))


def _default(state: State, given: Mapping[str, Value]) -> Const | None:
    """Return the value of an option that is not passed; None where it is not known."""
    default: Value | None = given.get("default", NONE)
    action, made = given.get("action", NONE), given.get("type", NONE)
    if isinstance(action, Const) and action.value in _SWITCHES and "default" not in given:
        return Const(_SWITCHES[action.value])
    if isinstance(default, Const) and isinstance(default.value, str) and made != NONE:  # the type is applied to a text
        default = constant_folding.function(state, made.name, (default,), ()) if isinstance(made, Builtin) else None
    return Const(default.value) if isinstance(default, Const) else None


def _set_defaults(state: State, parser: SymId, arguments: Arguments, _result: Sym) -> None:
    given = dict(arguments.keywords)
    known = () if arguments.unknown else state.trait(traits.OPTIONS, parser) or ()
    new = ((name, Const(value.value)) for name, value in given.items() if isinstance(value, Const))
    state.set_trait(traits.OPTIONS, parser, (*(option for option in known if option[0] not in given), *new))


def _describe(state: State, parser: SymId, arguments: Arguments, result: Sym) -> None:
    words = arguments.exprs.get(0) or arguments.exprs.get("args")
    none_passed = isinstance(words, ir.Sequence) and not words.items
    if isinstance(words, ir.Sequence) and words.items:
        return  # some options are passed
    for name, default in state.trait(traits.OPTIONS, parser) or ():
        if none_passed:
            state.set_trait(traits.UNKNOWN_ATTRIBUTE, (result.id, name), default)
            continue
        option = state.symbols.sym((origins.ATTRIBUTE, result.id, name), _KINDS.get(type(default.value), ""))
        state.set_trait(traits.DEFAULT, option.id, default)
        state.set_trait(traits.UNKNOWN_ATTRIBUTE, (result.id, name), option)


def _describe_first(state: State, parser: SymId, arguments: Arguments, result: Sym) -> None:
    _describe(state, parser, arguments, state.symbols.sym((origins.ITEM, result, Const(0))))


_KINDS: Mapping[type, str] = {bool: "number", int: "number", float: "number", str: "str"}
_METHODS: Mapping[str, Callable[[State, SymId, Arguments, Sym], None]] = {
    "add_argument": _add,
    "parse_args": _describe,
    "parse_known_args": _describe_first,
    "set_defaults": _set_defaults,
}
