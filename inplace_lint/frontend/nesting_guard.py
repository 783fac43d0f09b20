"""
How deeply brackets nest.

LibCST's parser crashes the process at about a thousand nested parentheses, so this scan runs before it. CPython itself
refuses more than 200.
"""

from __future__ import annotations

import re

DEEPEST = 200

_TOKEN = re.compile(
    r"(?P<string>(?:'''|\"\"\")|'|\")|(?P<comment>\#[^\r\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<line>\r\n|\r|\n)"
)
_ENDS = {quote: re.compile(rf"(?:\\.|[^\\])*?{quote}", re.DOTALL) for quote in ("'''", '"""')} | {
    quote: re.compile(rf"(?:\\.|[^\\\r\n])*?(?:{quote}|(?=[\r\n])|\Z)", re.DOTALL) for quote in ("'", '"')
}


def depth_exceeds(source: str, limit: int = DEEPEST) -> tuple[int, int] | None:
    """
    Return the place of the first bracket nested more deeply than the limit, outside strings and comments, or None.

    Units: line from 1, column from 0.
    """
    if max(source.count("("), source.count("["), source.count("{")) <= limit // 3:
        return None
    depth, position, line, start = 0, 0, 1, 0
    while (match := _TOKEN.search(source, position)) is not None:
        position = match.end()
        kind = match.lastgroup
        if kind == "open":
            depth += 1
            if depth > limit:
                return line, match.start() - start
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "line":
            line, start = line + 1, position
        elif kind == "string":
            end = _ENDS[match.group()].match(source, position)
            position = len(source) if end is None else end.end()
            inner = source.count("\n", match.start(), position)
            if inner:
                line += inner
                start = source.rfind("\n", 0, position) + 1
    return None
