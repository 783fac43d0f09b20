"""Applies edits to a text, and maps places of the new text to places of the old one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

from inplace_lint.core.finding import Edit
from inplace_lint.core.source_lines import split_lines

Where = tuple[int, int]


def applied(source: str, edits: Sequence[Edit]) -> str:
    """Return a text after edits that do not overlap; edits at the same place apply in order."""
    starts = [0, *accumulate(len(line) for line in split_lines(source))]
    text: list[str] = []
    last = 0
    for edit in _in_order(edits):
        begin = starts[edit.span.line - 1] + edit.span.column
        text.extend((source[last:begin], edit.content))
        last = starts[edit.span.end_line - 1] + edit.span.end_column
    return "".join((*text, source[last:]))


def _in_order(edits: Sequence[Edit]) -> list[Edit]:
    return sorted(edits, key=lambda edit: (edit.span.line, edit.span.column, edit.span.end_line, edit.span.end_column))


class Moved(Struct, frozen=True):
    """How edits move places: `old` and `new` are the start and end of each edit, in order."""

    old: tuple[tuple[Where, Where], ...]
    new: tuple[tuple[Where, Where], ...]

    def origin(self, place: Where) -> Where | int:
        """Return the old place of a new one, or the number of the edit that inserted the text there."""
        at = bisect_right([start for start, _ in self.new], place) - 1
        if at < 0:
            return place
        end, old_end = self.new[at][1], self.old[at][1]
        if place < end:
            return at
        return _shifted(place, end, old_end)

    def covers(self, number: int, place: Where) -> bool:
        """Check whether an old place lies within what an edit replaced."""
        start, end = self.old[number]
        return start <= place <= end


def moved(edits: Sequence[Edit]) -> Moved:
    """Return how places move when edits of one text are applied."""
    old: list[tuple[Where, Where]] = []
    new: list[tuple[Where, Where]] = []
    for edit in _in_order(edits):
        start, end = (edit.span.line, edit.span.column), (edit.span.end_line, edit.span.end_column)
        begin = _shifted(start, old[-1][1], new[-1][1]) if old else start
        lines = split_lines(edit.content)
        breaks = sum(line.endswith(("\n", "\r")) for line in lines)
        tail = len(lines[-1]) if lines and not lines[-1].endswith(("\n", "\r")) else 0
        old.append((start, end))
        new.append((begin, (begin[0] + breaks, tail + (begin[1] if not breaks else 0))))
    return Moved(tuple(old), tuple(new))


def _shifted(place: Where, since: Where, to: Where) -> Where:
    """Return the new position of a place at or after `since`, when `since` has moved to `to`."""
    if place[0] == since[0]:
        return to[0], to[1] + place[1] - since[1]
    return place[0] + to[0] - since[0], place[1]
