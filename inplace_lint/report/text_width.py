"""
Text on a terminal, where an East Asian wide character takes two cells and a combining one none.

The widths are those of rich; a tab goes to the next stop.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

TAB = 4
_OPENING = "（《「『【〔([{"
_CLOSING = "，。、；：？！）》」』】〕,.;:?!)]}…"


class Laid(NamedTuple):
    """
    A line as it is printed, and the cell at which each of its characters starts; the last entry is its end.

    Shapes: `starts` has one entry more than the source line has code points.
    """

    pieces: tuple[str, ...]
    starts: tuple[int, ...]


def width_of(text: str) -> int:
    """Return the number of cells that a text without tabs takes."""
    return len(text) if text.isascii() else sum(_width(char) for char in text)


def ending(text: str, room: int) -> str:
    """Return the end of a text that fits into so many cells, after dots where the rest is left out."""
    if width_of(text) <= room:
        return text
    while text and width_of(text) > room - len(_DOTS):
        text = text[1:]
    return _DOTS + text if text else ""


def laid(line: str) -> Laid:
    """Return a source line with tabs expanded and control characters made visible."""
    pieces: list[str] = []
    starts = [0]
    for char in line:
        piece = " " * (TAB - starts[-1] % TAB) if char == "\t" else _visible(char)
        pieces.append(piece)
        starts.append(starts[-1] + width_of(piece))
    return Laid(tuple(pieces), tuple(starts))


def wrapped(text: str, first: int, rest: int) -> list[str]:
    """
    Break a text into lines of at most `first`, then `rest` cells; a longer piece has a line of its own.

    A text is broken at spaces, and beside wide characters, which are written without any.
    """
    lines: list[str] = []
    current = ""
    for piece, gap in _pieces(text):
        room = rest if lines else first
        joined = f"{current}{gap}{piece}" if current else piece
        if current and width_of(joined) > room:
            lines.append(current)
            current = piece
        else:
            current = joined
    return [*lines, current] if current or not lines else lines


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a text between which a line may end, each with what stands before it on the same line."""
    for word in text.split():
        start, gap = 0, " "
        for at in range(1, len(word)):
            if _may_end(word[at - 1], word[at]):
                yield word[start:at], gap
                start, gap = at, ""
        yield word[start:], gap


def _may_end(before: str, after: str) -> bool:
    """Check whether a line may end between two characters: not before a closing mark, nor after an opening one."""
    if before.isascii() and after.isascii():
        return False
    is_wide = _width(before) > 1 or _width(after) > 1
    return is_wide and after not in _CLOSING and before not in _OPENING


def cut(line: Laid, marks: Sequence[tuple[int, int]], room: int) -> tuple[str, int]:
    """
    Return at most `room` cells of a line with the marked cells in them, and the shift of its first cell.

    A cell `c` of the line is printed at `c - shift`. `...` replaces what is left out on a side.
    """
    total = line.starts[-1]
    if total <= room:
        return "".join(line.pieces), 0
    low = min((start for start, _ in marks), default=0)
    high = max((end for _, end in marks), default=0)
    if high <= room - len(_DOTS):
        return _window(line, 0, room - len(_DOTS)) + _DOTS, 0
    # The marks are in the middle of the window; if they are wider than it, it begins at their start.
    slack = max(room - 2 * len(_DOTS) - (high - low), 0)
    begin = _boundary(line, min(low - min(slack // 2, low), max(total - room + len(_DOTS), 0)))
    shift = begin - len(_DOTS)
    if total - shift <= room:
        return _DOTS + _window(line, begin, total), shift
    return _DOTS + _window(line, begin, begin + room - 2 * len(_DOTS)) + _DOTS, shift


_DOTS = "..."


def _window(line: Laid, low: int, high: int) -> str:
    chosen = [piece for at, piece in enumerate(line.pieces) if line.starts[at] >= low and line.starts[at + 1] <= high]
    return "".join(chosen)


def _boundary(line: Laid, cell: int) -> int:
    """Return the start of the character that covers a cell, so that no wide one is cut in two."""
    return max(start for start in line.starts if start <= cell)


def _width(char: str) -> int:
    from rich.cells import get_character_cell_size  # noqa: PLC0415 - most text is ASCII, and does without

    return get_character_cell_size(char)


def _visible(char: str) -> str:
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(char) in {"Cc", "Cs"} else char
