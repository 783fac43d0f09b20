"""Finds what is known of a call by its name, as a person writes it, and where that stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import click

from inplace_lint.config.schema import did_you_mean
from inplace_lint.knowledge.facts import framework, frameworks, load
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.knowledge.own import OwnFact
from inplace_lint.knowledge.packs import packs

_MOST_SHOWN = 12


class Known(NamedTuple):
    """An entry, with the file and line that it is from; of a project's own one the framework is empty."""

    framework: str
    place: str
    row: Mapping[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """All spellings of the call."""
        return (self.row["op"], *self.row.get("same", ()))


def search(name: str, own: Sequence[OwnFact]) -> list[Known]:
    """
    Return the entries of a call, in the order in which its forms are tried.

    A name that is not that of a call stands for calls whose names end with it, or that a framework has elsewhere:
    `relu_` or `torch.add_`. What a project says itself comes in place of what the tables say.

    Raises: `click.UsageError` with the nearest name where nothing is known of any such call.
    """
    mine, tables = [Known("", fact.place, fact.row) for fact in own], [*_tables()]
    spelled = {spelling for one in (*mine, *tables) for spelling in one.names}
    chosen = next(filter(None, _meant(name, spelled)), None)
    if chosen is None:
        msg = (
            f"nothing is known of a call {name!r}{_instead(name, [one.row['op'] for one in (*mine, *tables)], spelled)}"
        )
        raise click.UsageError(msg)
    replaced = chosen.intersection(spelling for one in mine for spelling in one.names)
    return [
        *(one for one in mine if chosen.intersection(one.names)),
        *(one for one in tables if (chosen - replaced).intersection(one.names)),
    ]


def _instead(name: str, calls: Sequence[str], spelled: set[str]) -> str:
    """Return what an error about a name adds: where the call is read from, what the package has, or the nearest."""
    inside = sorted({one for one in calls if one.startswith(f"{name}.")})
    if inside:
        more = f", and {len(inside) - _MOST_SHOWN} more" if len(inside) > _MOST_SHOWN else ""
        return f"; calls in it: {', '.join(inside[:_MOST_SHOWN])}{more}"
    spaces = [f"{space}." for one in frameworks() for space in framework(one).operators]
    if name.startswith(tuple(spaces)):
        near = did_you_mean(name, [one for one in calls if one.startswith(tuple(spaces))])
        return near or "; operators that a program registers in Python are read from its code"
    last = name.rpartition(".")[2]
    return did_you_mean(name, sorted(spelled)) or did_you_mean(last, sorted(one.rpartition(".")[2] for one in spelled))


def _meant(name: str, spelled: set[str]) -> Iterator[set[str]]:
    """Yield the calls that a name may mean, the likeliest first."""
    yield spelled & {name}
    yield spelled & {load(framework).canonical(name) for framework in frameworks()}
    yield {one for one in spelled if one.endswith(f".{name}")}
    top, last = name.partition(".")[0], name.rpartition(".")[2]
    yield {one for one in spelled if one.startswith(f"{top}.") and one.endswith(f".{last}")}


def _tables() -> Iterator[Known]:
    ops = rules_dir() / "ops"
    for name in frameworks():
        paths = sorted((ops / name).glob("*.jsonl"), key=lambda path: (path.stem != "acts", path.name))
        libraries = [pack.path for pack in packs().values() if pack.framework == name]
        for path in (*paths, *libraries):
            lines = path.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, 1):
                if line.strip():
                    place = f"rules/{path.relative_to(ops.parent).as_posix()}:{number}"
                    yield Known(name, place, json.loads(line))
