"""What earlier runs kept in the store of single files, as each process of a run reads it."""

from __future__ import annotations

import ast
import contextlib
import os
import sqlite3
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from inplace_lint.core.errors import UnreadableError
from inplace_lint.knowledge.locate import framework_names
from inplace_lint.workspace import files

_BUSY_SECONDS = 2.0


class KeptFiles(NamedTuple):
    """
    Outlines of files, and answers to questions about them, in the store at `place`; there are none without a place.

    Outlines and headers are those that were made by the code with the digest `code`.
    """

    place: str = ""
    code: str = ""

    def outline(self, digest: str) -> str | None:
        """Return the form of the outline of a file with this digest; None where there is none."""
        with contextlib.suppress(zlib.error, UnicodeError, TypeError):
            for (form,) in self._rows("SELECT form FROM outline WHERE bytes = ? AND code = ?", digest, self.code):
                return zlib.decompress(form).decode()
        return None

    def answers(self, path: str, digest: str) -> dict[tuple[str, str], str]:
        """Return the digests of answers by question and detail, as they are while the file has this digest."""
        rows = self._rows("SELECT question, detail, answer FROM claim WHERE path = ? AND bytes = ?", path, digest)
        return {(question, detail): answer for question, detail, answer in rows}

    def headers(self) -> dict[str, bytes]:
        """Return the headers of files by the digests of their bytes."""
        rows = self._rows("SELECT bytes, form FROM header WHERE code = ?", self.code)
        return {digest: form for digest, form in rows if isinstance(form, bytes)}

    def _rows(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        if not self.place:
            return []
        with contextlib.suppress(sqlite3.Error, UnicodeError):
            return _opened(self.place).execute(statement, values).fetchall()
        return []


_CONNECTIONS: dict[tuple[int, str], sqlite3.Connection] = {}


def _opened(place: str) -> sqlite3.Connection:
    """Open a store for this process alone: one that a forked process inherits must be neither used nor closed."""
    process = os.getpid()
    if (process, place) not in _CONNECTIONS:
        for other in [key for key in _CONNECTIONS if key[0] == process]:
            _CONNECTIONS.pop(other).close()
        address = f"{Path(place).as_uri()}?mode=ro"
        _CONNECTIONS[process, place] = sqlite3.connect(address, timeout=_BUSY_SECONDS, uri=True)
    return _CONNECTIONS[process, place]


def is_same_code(before: bytes, now: bytes) -> bool:
    """Check whether two texts differ in comments and layout only, and mention the same packages."""
    from inplace_lint.effects.summary import mentions, parse  # noqa: PLC0415 - only where a file was edited

    try:
        texts = files.decode(before), files.decode(now)
        named = [mentions(text, framework_names()) for text in texts]
        return named[0] == named[1] and ast.dump(parse("", texts[0])) == ast.dump(parse("", texts[1]))
    except (UnreadableError, SyntaxError, RecursionError):
        return False
