r"""
Places in texts as the protocol counts them: lines from 0, and columns in units of the encoding that was agreed on.

`x = "😀"; y += 1` has `y` at column 9 in code points, as everywhere else in this tool, and at 10 in UTF-16. Lines end
where Python and the protocol say: at `\n`, `\r\n` and `\r`, and not at the other characters of `str.splitlines`.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from lsprotocol import types

from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Span

_BYTES = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Units:
    """The units of columns: those of UTF-8, UTF-16 or UTF-32."""

    def __init__(self, encoding: str) -> None:
        self._codec, self._size = _BYTES[encoding]

    def position(self, lines: Sequence[str], line: int, column: int) -> types.Position:
        """Return the position of a line from 0 and a column in code points."""
        text = lines[line][:column] if line < len(lines) else ""
        return types.Position(line, len(text.encode(self._codec, "surrogatepass")) // self._size)

    def range(self, lines: Sequence[str], span: Span) -> types.Range:
        """Return the range of a span of a text with these lines."""
        return types.Range(
            self.position(lines, span.line - 1, span.column), self.position(lines, span.end_line - 1, span.end_column)
        )

    def offset(self, lines: Sequence[str], position: types.Position) -> int:
        """Return the number of code points before a position; one past the end of a line or the text is at its end."""
        if position.line >= len(lines):
            return sum(map(len, lines))
        line = lines[position.line].rstrip("\r\n")
        before = line.encode(self._codec, "surrogatepass")[: position.character * self._size]
        return sum(map(len, lines[: position.line])) + len(before.decode(self._codec, "ignore"))

    def edits(self, old: str, new: str) -> list[types.TextEdit]:
        """Return edits of whole lines that make one text of another."""
        before, after = lines_of(old), lines_of(new)
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        return [
            types.TextEdit(types.Range(self._start(before, a), self._start(before, b)), "".join(after[c:d]))
            for kind, a, b, c, d in matcher.get_opcodes()
            if kind != "equal"
        ]

    def _start(self, lines: Sequence[str], number: int) -> types.Position:
        """Return the start of a line; after the last one, the end of the text."""
        if number < len(lines) or not lines or lines[-1].endswith(("\n", "\r")):
            return types.Position(number, 0)
        return self.position(lines, number - 1, len(lines[-1]))


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends."""
    return list(split_lines(text))


def changed(text: str, changes: Sequence[types.TextDocumentContentChangeEvent], units: Units) -> str:
    """Return a text after changes, each of which is of the text that the one before it left."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            lines = lines_of(text)
            start, end = units.offset(lines, change.range.start), units.offset(lines, change.range.end)
            text = text[:start] + change.text + text[end:]
        else:
            text = change.text
    return text
