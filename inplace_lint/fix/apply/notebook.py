"""
Changes the code of cells of a notebook, and no other byte of the file.

The strings with the lines of a cell are located in the JSON text and replaced one by one, so that the layout, the order
of keys and the spelling of numbers stay as the writing program chose them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from inplace_lint.core.errors import UnreadableError
from inplace_lint.core.source_lines import split_lines

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(strict=False)


def sources(data: bytes) -> dict[int, str]:
    """Return the code of each cell as it is in the file, by the number of the cell from 1."""
    text = data.decode("utf-8-sig")
    return {number: "".join(_value(text, *place) for place in places) for number, places in _cells(text)}


def replaced(data: bytes, codes: Mapping[int, str]) -> bytes:
    """
    Return a notebook with new code in some cells.

    Raises: `UnreadableError` for a cell that is not there.
    """
    text = data.decode("utf-8-sig")
    mark = data[: len(data) - len(text.encode("utf-8", "surrogatepass"))]
    out: list[str] = []
    last, done = 0, set[int]()
    for number, places in _cells(text):
        if number not in codes or not places:
            continue
        done.add(number)
        for (start, end), piece in _pieces(text, places, codes[number]):
            out.extend((text[last:start], piece))
            last = end
    if done != set(codes):
        msg = "has no such cell any more"
        raise UnreadableError(msg)
    return mark + "".join((*out, text[last:])).encode("utf-8", "surrogatepass")


def _pieces(text: str, places: list[tuple[int, int]], code: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the ranges of JSON to replace: the strings between the first and the last line that changed."""
    if len(places) == 1:
        start, end = places[0]
        # A list of one line grows by items; one string, as some programs write, stays one.
        parts = [code] if text[:start].rstrip(" \t\r\n").endswith(":") else list(split_lines(code)) or [""]
        yield (start, end), _joined(text, places, parts)
        return
    old = [_value(text, *place) for place in places]
    new = list(split_lines(code))
    head = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    first, last = min(head, len(old) - 1), max(len(old) - tail - 1, min(head, len(old) - 1))
    parts = new[first : len(new) - (len(old) - 1 - last)]
    yield (places[first][0], places[last][1]), _joined(text, places, parts)


def _joined(text: str, places: list[tuple[int, int]], parts: list[str]) -> str:
    ascii_only = text.isascii()
    gap = ", " if len(places) == 1 else text[places[0][1] : places[1][0]]
    if len(places) == 1:
        before = text[: places[0][0]]
        blank = before[len(before.rstrip(" \t\r\n")) :]
        gap = f",{blank}" if blank else ", "
    return gap.join(json.dumps(part, ensure_ascii=ascii_only) for part in parts)


def _value(text: str, start: int, _end: int) -> str:
    return str(_DECODER.raw_decode(text, start)[0])


def _cells(text: str) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield the number of each cell with the ranges of the strings of its code."""
    for name, at in _members(text, _skip(text, 0)):
        if name != "cells":
            continue
        for number, cell in enumerate(_items(text, at), 1):
            for key, value in _members(text, cell):
                if key == "source":
                    starts = _items(text, value) if text[value] == "[" else iter((value,))
                    yield number, [(start, _end(text, start)) for start in starts]


def _members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Yield the keys of an object with the offsets of their values."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        yield str(key), at
        at = _skip(text, _end(text, at))
        at = _skip(text, at + 1) if text[at] == "," else at


def _items(text: str, at: int) -> Iterator[int]:
    """Yield the offsets of the items of a list."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        yield at
        at = _skip(text, _end(text, at))
        at = _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _end(text: str, at: int) -> int:
    whole: tuple[Any, int] = _DECODER.raw_decode(text, at)
    return whole[1]
