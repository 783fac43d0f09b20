"""Version ranges such as `>=1.5,<2.0`, as they stand in facts."""

from __future__ import annotations

import re

from inplace_lint.core.errors import FactError

_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*([0-9][0-9.]*)\s*")


def admits(range_: str, version: str | None) -> bool:
    """Say whether a version lies in a range; without a version the newest is meant, which only upper bounds exclude."""
    return all(_clause(text, version) for text in range_.split(",") if text.strip())


def _clause(text: str, version: str | None) -> bool:
    match = _CLAUSE.fullmatch(text)
    if match is None:
        msg = f"not a version range: {text!r}"
        raise FactError(msg)
    op, bound = match.group(1), _numbers(match.group(2))
    if version is None:
        return op in {">=", ">", "!="}
    mine = _numbers(version)
    width = max(len(mine), len(bound))
    left, right = mine + (0,) * (width - len(mine)), bound + (0,) * (width - len(bound))
    return {
        ">=": left >= right,
        "<=": left <= right,
        "==": left == right,
        "!=": left != right,
        ">": left > right,
        "<": left < right,
    }[op]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:4])
