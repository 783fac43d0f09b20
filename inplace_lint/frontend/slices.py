"""Cuts a slice out of a file: whole physical lines, changed just enough to parse alone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Slice


class Cutout(Struct, frozen=True):
    """Text that parses alone; its line n is line n + `offset` of the file, with the same columns."""

    text: str
    offset: int

    @property
    def is_wrapped(self) -> bool:
        """Whether an `if 1:` was put above the lines."""
        return self.text.startswith("if 1:\n")


def cut(source: str, slice_: Slice, holes: Sequence[Slice] = ()) -> Cutout:
    """
    Return the lines of a slice as a text that parses alone.

    Indented lines get an `if 1:` above them, so that all columns stay. The lines of `holes`, methods of a class that
    are slices of their own, are blanked, with a `pass` in place of the first.
    """
    lines = list(split_lines(source)[slice_.first - 1 : slice_.last])
    if lines and holes:
        _blank(lines, slice_, holes)
    if lines and lines[-1].rstrip("\r\n").endswith("\\"):
        lines.append("\n")  # the line that follows is empty, or another statement
    offset = slice_.first - 1
    first = next((line for line in lines if line.strip()), "")
    if first[:1] in {" ", "\t", "\f"} and first.lstrip("\f")[:1] in {" ", "\t"}:
        return Cutout("if 1:\n" + "".join(lines), offset - 1)
    return Cutout("".join(lines), offset)


def _blank(lines: list[str], slice_: Slice, holes: Sequence[Slice]) -> None:
    for number, hole in enumerate(holes):
        start = hole.first - slice_.first
        first = lines[start]
        indent = first[: len(first) - len(first.lstrip())]
        for position in range(start, min(hole.last - slice_.first + 1, len(lines))):
            lines[position] = "\n"
        if number == 0:
            lines[start] = f"{indent}pass\n"
