"""
How deeply brackets nest.

LibCST's parser crashes the process at about a thousand nested parentheses, so this scan runs before it. CPython itself
refuses more than 200.
"""

from __future__ import annotations

import re

DEEPEST = 200

_TOKEN = re.compile(r"(?P<string>(?:'''|\"\"\")|'|\")|(?P<comment>\#[^\r\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])")
_ENDS = {quote: re.compile(rf"(?:\\.|[^\\])*?{quote}", re.DOTALL) for quote in ("'''", '"""')} | {
    quote: re.compile(rf"(?:\\.|[^\\\r\n])*?(?:{quote}|(?=[\r\n])|\Z)", re.DOTALL) for quote in ("'", '"')
}


def nests_too_deeply(source: str) -> bool:
    """Return whether brackets outside of strings and comments are nested more deeply than CPython reads."""
    if max(source.count("("), source.count("["), source.count("{")) <= DEEPEST // 3:
        return False
    depth, position = 0, 0
    while (match := _TOKEN.search(source, position)) is not None:
        position = match.end()
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "string":
            end = _ENDS[match.group()].match(source, position)
            position = len(source) if end is None else end.end()
        if depth > DEEPEST:
            return True
    return False
