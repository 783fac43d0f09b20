"""
The outline of a text that somebody edits: after an edit inside of one function or class, only that one is read again.

Lines that begin with a blank belong to the item above them, so the other items, the imports and the names of the module
are those of the text before. Any other edit has the whole file read.
"""

from __future__ import annotations

from collections.abc import Sequence

from inplace_lint.core.source_lines import split_lines, unchanged
from inplace_lint.effects.summary import Definition, Names, Outline, definition, mentions, outlined, parse


class LastOutline:
    """The outline of the last text of a file, with what the next one is made from."""

    def __init__(self) -> None:
        self._source = ""
        self._made: tuple[Outline, Names] | None = None

    def after(self, path: str, source: str, roots: Sequence[str]) -> Outline:
        """
        Return the outline of the text that follows the last one, and keep it as the last one.

        Raises: SyntaxError when `ast` of the running Python refuses it.
        """
        found = None if self._made is None else _of_one_item(*self._made, self._source, source, roots)
        self._made = found or outlined(path, source, roots)
        self._source = source
        return self._made[0]


def _of_one_item(
    last: Outline, names: Names, before: str, source: str, roots: Sequence[str]
) -> tuple[Outline, Names] | None:
    """Return the outline of a text, with one item read again; None where the edit may be of more than one item."""
    old, new = split_lines(before), split_lines(source)
    same, below = unchanged(old, new)
    changed = (*old[same : len(old) - below], *new[same : len(new) - below])
    at = _item_of(last, same + 1, len(old) - below)
    if at is None or any(line[:1].strip() for line in changed):
        return None
    known, by = last.items[at], len(new) - len(old)
    first = known.slice.first
    try:
        body = parse(last.path, "".join(new[first - 1 : max(known.slice.last, same) + by])).body
    except SyntaxError:
        return None
    read = definition(last.path, body[0], names) if len(body) == 1 else None
    if read is None or (read.kind, read.name) != (known.kind, known.name):
        return None
    items = (*last.items[:at], _moved(read, first - 1), *(_moved(item, by) for item in last.items[at + 1 :]))
    made = last._replace(mentions=mentions(source, roots), items=items, lines=source.count("\n") + 1)
    return made, names


def _item_of(outline: Outline, first: int, last: int) -> int | None:
    """Return the index of the function or class that is edited below its first line; None where there is none."""
    for at, item in enumerate(outline.items):
        if item.slice.first < first and last <= item.slice.last and first <= item.slice.last + 1:
            return at if item.kind != "statement" and item.slice.kind in {item.kind, "statement"} else None
    return None


def _moved(item: Definition, by: int) -> Definition:
    if not by:
        return item
    slice_ = item.slice._replace(first=item.slice.first + by, last=item.slice.last + by)
    return item._replace(slice=slice_, methods=tuple(_moved(method, by) for method in item.methods))
