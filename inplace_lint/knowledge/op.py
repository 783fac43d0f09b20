"""
What a framework call does to memory and to autograd: the frozen form of one entry of an op table.

The text form is described in `rules/ops/README.md`; this module parses it and knows nothing of any framework.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge.guard import Guard, parse


@dataclass(frozen=True, slots=True)
class Argument:
    """
    One argument of a call.

    `kind` is "plain", "keyword" (keyword-only), "args" (`*name`) or "kwargs" (`**name`); `default` is meaningful only
    when `optional`.
    """

    name: str
    kind: str = "plain"
    optional: bool = False
    default: object = None


@dataclass(frozen=True, slots=True)
class StatePart:
    """A parameter (`param`) or buffer of a module, present under `condition`."""

    name: str
    param: bool
    condition: Guard | None


@dataclass(frozen=True, slots=True)
class SaveFact:
    """
    What backward keeps: an argument, `self.weight`, or `out0`; a `copy` never goes stale.

    It is not `checked` when the framework keeps it behind its version counter.
    """

    of: str
    condition: Guard | None
    copy: bool
    checked: bool = True


@dataclass(frozen=True, slots=True)
class WriteFact:
    """An argument (or `self.running_mean`) that the call writes, and the checks the framework makes before."""

    to: str
    counted: bool
    checks: frozenset[str]
    condition: Guard | None
    moves: str = ""


@dataclass(frozen=True, slots=True)
class ReturnFact:
    """One alternative of what the call returns; the fields are those of `rules/ops/README.md`."""

    kind: str
    condition: Guard | None = None
    of: str = ""
    view: str = "single"
    contiguous: bool | None = None
    moves: str = ""
    dtype: str = "same"
    rank: int | str | None = None
    leaf: bool = False
    rg: Guard | None = None
    items: tuple[ReturnFact, ...] = ()
    length: int | str | None = None
    value: str = "unknown"


@dataclass(frozen=True, slots=True)
class Becoming:
    """Under `condition` the call is a call of `op`."""

    op: str
    condition: Guard | None


@dataclass(frozen=True, slots=True)
class Op:
    """One form of a framework call."""

    name: str
    args: tuple[Argument, ...]
    condition: Guard | None = None
    init: tuple[Argument, ...] | None = None
    state: tuple[StatePart, ...] = ()
    becomes: tuple[Becoming, ...] = ()
    writes: tuple[WriteFact, ...] = ()
    saves: tuple[SaveFact, ...] = ()
    grads: tuple[str, ...] | None = None
    returns: tuple[ReturnFact, ...] = ()
    history: str = "rebase"
    act: str = ""
    versions: str = ""


def op_of(row: Mapping[str, Any], name: str | None = None) -> Op:
    """
    Parse one entry, under another of its spellings if `name` is given.

    Raises: `FactError` naming the op and the key at fault.
    """
    try:
        init = row.get("init")
        return Op(
            name=name or row["op"],
            args=_arguments(row.get("args", ())),
            condition=_condition(row),
            init=None if init is None else _arguments(init),
            state=tuple(
                StatePart(part, bool(entry.get("param")), _condition(entry))
                for part, entry in row.get("state", {}).items()
            ),
            becomes=tuple(Becoming(entry["op"], _condition(entry)) for entry in row.get("becomes", ())),
            writes=tuple(_write(entry) for entry in row.get("writes", ())),
            saves=tuple(
                SaveFact(
                    entry["of"], _condition(entry), bool(entry.get("copy")), entry.get("checked", True) is not False
                )
                for entry in row.get("saves", ())
            ),
            grads=tuple(row["grads"]) if "grads" in row else None,
            returns=tuple(_return(entry) for entry in row.get("returns", ())),
            history=row.get("history", "rebase"),
            act=row.get("act", ""),
            versions=row.get("versions", ""),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"op fact {row.get('op')!r}: {error}"
        raise FactError(msg) from error


def _condition(entry: Mapping[str, Any]) -> Guard | None:
    text = entry.get("if")
    return None if text is None else parse(text)


def _arguments(texts: Sequence[str]) -> tuple[Argument, ...]:
    found: list[Argument] = []
    kind = "plain"
    for text in texts:
        name, equals, default = text.partition("=")
        name = name.strip()
        if name == "*":
            kind = "keyword"
        elif name.startswith("**"):
            found.append(Argument(name[2:], "kwargs"))
        elif name.startswith("*"):
            found.append(Argument(name[1:], "args"))
            kind = "keyword"
        else:
            found.append(Argument(name, kind, bool(equals), _literal(default) if equals else None))
    return tuple(found)


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()


def _write(entry: Mapping[str, Any]) -> WriteFact:
    checks = frozenset(entry.get("checks", ()))
    return WriteFact(entry["to"], entry["counted"], checks, _condition(entry), entry.get("moves", ""))


def _return(entry: Mapping[str, Any]) -> ReturnFact:
    kind = entry["is"]
    items = entry.get("items", (entry["item"],) if "item" in entry else ())
    rg = entry.get("rg")
    is_value = kind == "value"
    return ReturnFact(
        kind=kind,
        condition=_condition(entry),
        of=entry.get("of", ""),
        view="single" if is_value else entry.get("kind", "single"),
        contiguous=entry.get("contiguous"),
        moves=entry.get("moves", ""),
        dtype=entry.get("dtype", "same"),
        rank=entry.get("rank"),
        leaf=bool(entry.get("leaf")),
        rg=None if rg is None else parse(str(rg)),
        items=tuple(_return(item) for item in items),
        length=entry.get("length"),
        value=entry.get("kind", "unknown") if is_value else "unknown",
    )
