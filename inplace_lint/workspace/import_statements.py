"""The import statements of a file by its text alone: no parser runs, and strings that look so are included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+(?P<level>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*"
    r"(?P<names>\([^)]*\)|(?:\\\r?\n|[^\n;])*)|import[ \t]+(?P<plain>[\w.][\w., \t]*))",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(r"\w+|\*")


class Statement(NamedTuple):
    """`from module import names`, with a level as in `ast`; without names, `import module`."""

    module: str
    level: int = 0
    names: tuple[str, ...] | None = None


def statements(data: bytes) -> tuple[Statement, ...]:
    """Return the import statements in the bytes of a file, inside of functions too."""
    return tuple(_found(_COMMENT.sub(b"", data).decode("utf-8", "replace")))


def _found(text: str) -> Iterator[Statement]:
    for match in _IMPORT.finditer(text):
        if match["plain"] is None:
            yield Statement(match["module"], len(match["level"]), tuple(dict.fromkeys(_NAME.findall(match["names"]))))
            continue
        words = (part.split() for part in match["plain"].split(","))
        yield from (Statement(word[0] if word else "") for word in words)
