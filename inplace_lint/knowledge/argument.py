"""The arguments of a call, as an op table writes them: `["input", "*", "dim=-1", "**kwargs"]`."""

from __future__ import annotations

import ast
from functools import cache

from msgspec import Struct

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge.schema import each, text
from inplace_lint.knowledge.words import ArgumentKind


class Argument(Struct, frozen=True):
    """One argument of a call; `default` is meaningful only when it is `optional`."""

    name: str
    kind: ArgumentKind = ArgumentKind.PLAIN
    optional: bool = False
    default: object = None


def arguments(value: object) -> tuple[Argument, ...]:
    """Read the arguments of a call, as texts of a `def`."""
    found: list[Argument] = []
    kind = ArgumentKind.PLAIN
    for one in each(text)(value):
        written, equals, default = one.partition("=")
        name = name_of(one)
        if written.startswith("**"):
            found.append(Argument(name, ArgumentKind.KWARGS))
        elif written.startswith("*"):
            if name:
                found.append(Argument(name, ArgumentKind.ARGS))
            kind = ArgumentKind.KEYWORD
        else:
            found.append(Argument(name, kind, bool(equals), _literal(one, default) if equals else None))
    return tuple(found)


@cache
def name_of(argument: str) -> str:
    """Return the name in `x`, `x=1`, `*x` or `**x`; none in `*`."""
    name = argument.partition("=")[0].strip().lstrip("*")
    if not name.isidentifier() and argument != "*":
        msg = f'"{argument}" is not an argument: write "x", "x=1", "*", "*x" or "**x"'
        raise FactError(msg)
    return name


def _literal(argument: str, default: str) -> object:
    """Return the value of a default, or the text of an expression that is no literal."""
    try:
        return ast.literal_eval(default.strip())
    except ValueError:
        return default.strip()
    except SyntaxError as error:
        msg = f'the default in "{argument}" is not a Python expression'
        raise FactError(msg) from error
