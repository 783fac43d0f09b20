"""One part of a run, for machines that check a project together: which of its files belong to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from inplace_lint.core.errors import ConfigError, UnreadableError
from inplace_lint.knowledge.locate import framework_names
from inplace_lint.workspace import files

Costs = Mapping[str, int]
_UNKNOWN: Costs = MappingProxyType({})


class Shard(NamedTuple):
    """The part with this number, from 1, of so many; `costs` are milliseconds that files took, by path."""

    number: int
    of: int
    costs: Costs = _UNKNOWN


def part(paths: Sequence[Path], shard: Shard) -> tuple[Path, ...]:
    """
    Return the files of a part: each file is in exactly one, and all parts cost about the same.

    Files that are next to each other stay together, since they have the same callers. A file that is not among the
    costs of the shard is taken to cost as much for each byte as those that are, if it mentions a framework: all that
    is the same on every machine that has the same costs.
    """
    costs = list(_costs(paths, shard.costs))
    total, before = sum(costs), 0
    chosen: list[Path] = []
    for path, cost in zip(paths, costs, strict=True):
        middle = 2 * before + cost
        if middle * shard.of // (2 * total) == shard.number - 1:
            chosen.append(path)
        before += cost
    return tuple(chosen)


def read_costs(path: Path) -> Costs:
    """
    Return the costs in a file, as `inplace-lint cache costs` prints them.

    Raises: `ConfigError` naming the file, and the key at fault.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{path}: {getattr(error, 'strerror', '') or 'not JSON'}"
        raise ConfigError(msg) from error
    if not isinstance(found, dict):
        msg = f"{path}: not an object of milliseconds by path"
        raise ConfigError(msg)
    for name, cost in found.items():
        if type(cost) is not int or cost < 0:
            msg = f"{path}: {name!r}: {json.dumps(cost)} is not a number of milliseconds"
            raise ConfigError(msg)
    return found


def _costs(paths: Sequence[Path], known: Costs) -> Iterator[int]:
    """Yield what each file costs: whole numbers of which only the ratios count."""
    names = framework_names()
    sizes = [_size(path, names) for path in paths]
    given = [known.get(files.shown(path)) for path in paths]
    pairs = [(size, cost) for size, cost in zip(sizes, given, strict=True) if cost is not None]
    measured, took = sum(size for size, _ in pairs), sum(cost for _, cost in pairs)
    for size, cost in zip(sizes, given, strict=True):
        yield size * max(took, 1) if cost is None else max(cost, 1) * max(measured, 1)


def _size(path: Path, names: Sequence[str]) -> int:
    """Return the number of bytes of a file that mentions a framework; 1 for another one."""
    try:
        data = files.read(path)
    except UnreadableError:
        return 1
    return len(data) + 1 if files.mentions(data, names) else 1
