"""One part of a run, for machines that check a project together: which of its files belong to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from inplace_lint.core.errors import UnreadableError
from inplace_lint.driver.check_task import framework_names
from inplace_lint.workspace import files


class Shard(NamedTuple):
    """The part with this number, from 1, of so many."""

    number: int
    of: int


def part(paths: Sequence[Path], shard: Shard) -> tuple[Path, ...]:
    """
    Return the files of a part: each file is in exactly one, and all parts cost about the same.

    Files that are next to each other stay together, since they have the same callers. What a file costs is the number
    of its bytes if it mentions a framework: that is the same on every machine.
    """
    costs = list(_costs(paths))
    total, before = sum(costs), 0
    chosen: list[Path] = []
    for path, cost in zip(paths, costs, strict=True):
        middle = 2 * before + cost
        if middle * shard.of // (2 * total) == shard.number - 1:
            chosen.append(path)
        before += cost
    return tuple(chosen)


def _costs(paths: Sequence[Path]) -> Iterator[int]:
    names = framework_names()
    for path in paths:
        try:
            data = files.read(path)
        except UnreadableError:
            yield 1
            continue
        yield len(data) + 1 if files.mentions(data, names) else 1
