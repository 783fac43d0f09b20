"""The lines of a source, and what an edit leaves of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@lru_cache(maxsize=2)
def split_lines(source: str) -> tuple[str, ...]:
    """
    Split a source into physical lines as Python's parser does, line ends kept; a form feed ends no line.

    The last sources are remembered: a file is cut into slices one after the other.
    """
    return tuple(_LINE.findall(source))


def unchanged(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return the count of lines with which both texts begin, and that of those after with which both end."""
    same = _equal(old, new)
    return same, min(_equal(old[::-1], new[::-1]), len(old) - same, len(new) - same)


def _equal(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
