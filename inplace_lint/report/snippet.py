"""
A snippet of source with marks: `^^^` under the primary place, `---` under related places, sentences beside them.

    12 |         x = F.relu(self.conv1(x))
       |             --------------------- saved here: relu keeps its output for backward
    ...
    15 |         x += feat
       |         ^^^^^^^^^ written here

Lines with a mark are shown. `...` stands where others are left out; a single one takes no more room, and is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from inplace_lint.report.style import Ink, paint
from inplace_lint.report.text_width import cut, laid, width_of, wrapped

_LEAST_ROOM = 20


class Mark(NamedTuple):
    """
    A place in a line and the sentence about it.

    Units: line from 1; columns in code points from 0, the end exclusive and clipped to the line.
    """

    line: int
    column: int
    end_column: int
    text: str
    primary: bool
    ink: Ink


class _Placed(NamedTuple):
    """A mark in cells of the printed line."""

    start: int
    end: int
    mark: Mark


def snippet(lines: Sequence[str], marks: Sequence[Mark], gutter: int, width: int, *, color: bool) -> list[str]:
    """
    Return the lines of a snippet, from the empty gutter line above to the last mark.

    Units: `gutter` is the width of the line numbers, `width` that of the terminal, in cells.
    """
    bar = paint("|", Ink.FRAME, color=color)
    empty = f"{'':{gutter}} {bar}"
    out = [empty]
    room = max(width - gutter - 3, _LEAST_ROOM)
    marked = {mark.line for mark in marks}
    before: int | None = None
    for number in sorted(marked | {line + 1 for line in marked if line + 2 in marked}):
        if before is not None and number - before > 1:
            out.append(paint("...", Ink.FRAME, color=color))
        before = number
        text = lines[number - 1] if number <= len(lines) else ""
        shown, placed = _place(text, [mark for mark in marks if mark.line == number], room)
        out.append(f"{paint(f'{number:>{gutter}}', Ink.FRAME, color=color)} {bar} {shown}".rstrip())
        out.extend(f"{empty} {row}".rstrip() for row in (_under(placed, room, color=color) if placed else ()))
    return out


def _place(text: str, marks: Sequence[Mark], room: int) -> tuple[str, list[_Placed]]:
    text = text.rstrip()
    line = laid(text)
    spots: list[tuple[int, int]] = []
    for mark in marks:
        start = line.starts[min(mark.column, len(text))]
        end = line.starts[min(mark.end_column, len(text))]
        spots.append((start, max(end, start + 1)))
    shown, shift = cut(line, spots or [(0, 1)], room)
    inside = [(min(max(start - shift, 0), room - 1), min(end - shift, room)) for start, end in spots]
    return shown, [_Placed(start, max(end, start + 1), mark) for (start, end), mark in zip(inside, marks, strict=True)]


def _under(placed: Sequence[_Placed], room: int, *, color: bool) -> list[str]:
    """Return the rows below a source line: the marks with the sentence of the last, then those of the others."""
    row = _marks(placed)
    texts = sorted((spot for spot in placed if spot.mark.text), key=lambda spot: (spot.start, spot.mark.primary))
    out = _joined(row, color=color)
    hanging = texts
    if texts:
        last = texts[-1]
        is_alone = all(spot.end <= last.end and spot.start != last.start for spot in texts[:-1])
        if is_alone and len(row) + 1 + width_of(last.mark.text) <= room:
            out += f" {paint(last.mark.text, last.mark.ink, color=color)}"
            hanging = texts[:-1]
    return [out, *_hanging(hanging, room, color=color)]


def _marks(placed: Sequence[_Placed]) -> list[tuple[str, Ink]]:
    row = [(" ", Ink.PLAIN)] * max(spot.end for spot in placed)
    # Shorter marks are drawn over longer ones, so that a mark within another one stays visible.
    for spot in sorted(placed, key=lambda spot: (spot.start - spot.end, spot.mark.primary)):
        sign = "^" if spot.mark.primary else "-"
        row[spot.start : spot.end] = [(sign, spot.mark.ink)] * (spot.end - spot.start)
    return row


def _hanging(texts: Sequence[_Placed], room: int, *, color: bool) -> list[str]:
    if not texts:
        return []
    out = [_joined(_threads(texts, room), color=color)]
    for at in range(len(texts) - 1, -1, -1):
        spot = texts[at]
        start = _start(spot, room)
        threads = _threads(texts[:at], start)
        for line in wrapped(spot.mark.text, room - start, room - start):
            pad = " " * (start - len(threads))
            out.append(_joined(threads, color=color) + pad + paint(line, spot.mark.ink, color=color))
    return out


def _start(spot: _Placed, room: int) -> int:
    """Return where a sentence begins: below its mark, and where there is hardly room for words, left of that."""
    needed = width_of(spot.mark.text)
    least = max(_LEAST_ROOM, *map(width_of, wrapped(spot.mark.text, 1, 1)))
    return spot.start if room - spot.start >= min(needed, least) else max(room - needed, 0)


def _threads(texts: Sequence[_Placed], before: int) -> list[tuple[str, Ink]]:
    starts = {spot.start: spot.mark.ink for spot in texts if spot.start < before}
    row = [(" ", Ink.PLAIN)] * (max(starts, default=-1) + 1)
    for start, ink in starts.items():
        row[start] = ("|", ink)
    return row


def _joined(row: Sequence[tuple[str, Ink]], *, color: bool) -> str:
    out: list[str] = []
    at = 0
    while at < len(row):
        end = at
        while end < len(row) and row[end][1] is row[at][1]:
            end += 1
        out.append(paint("".join(char for char, _ in row[at:end]), row[at][1], color=color))
        at = end
    return "".join(out)
