"""Version ranges such as `>=1.5,<2.0`, as facts have them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from inplace_lint.core.errors import FactError

_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|>|<)\s*([0-9][0-9.]*)\s*")
_HOLDS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def admits(range_: str, version: str | None) -> bool:
    """Return whether a version lies in a range; None is the newest version, which only upper bounds exclude."""
    return all(_clause(text, version) for text in range_.split(",") if text.strip())


def version_range(text: object) -> str:
    """
    Return the text of a range.

    Raises: `FactError` for another text, TypeError for what is no text.
    """
    if not isinstance(text, str):
        msg = f"{text!r}, not a version range"
        raise TypeError(msg)
    admits(text, None)
    return text


def _clause(text: str, version: str | None) -> bool:
    match = _CLAUSE.fullmatch(text)
    if match is None:
        msg = f'"{text}" is not a version range; write for example ">=1.5,<2.0"'
        raise FactError(msg)
    op, bound = match.group(1), _numbers(match.group(2))
    if version is None:
        return op in {">=", ">", "!="}
    mine = _numbers(version)
    width = max(len(mine), len(bound))
    return _HOLDS[op](mine + (0,) * (width - len(mine)), bound + (0,) * (width - len(bound)))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:4])
