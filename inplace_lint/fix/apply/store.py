"""Writes a file as a whole, with the same permissions, and only if it still has the content that was read."""

from __future__ import annotations

from pathlib import Path

from inplace_lint.core.errors import UnreadableError
from inplace_lint.workspace import files


def write(path: Path, old: bytes, new: bytes) -> str:
    """Replace the content `old` of a file by `new`; return the reason if it could not be done, otherwise nothing."""
    try:
        files.swap(path, old, new)
    except UnreadableError as error:
        return str(error)
    return ""
