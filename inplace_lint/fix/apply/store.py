"""Writes files so that nothing is lost: all at once, over what was read and nothing else, with the same rights."""

from __future__ import annotations

from pathlib import Path

from inplace_lint.core.errors import UnreadableError
from inplace_lint.workspace import files


def write(path: Path, old: bytes, new: bytes) -> str:
    """Put new content into a file that holds `old`, and give nothing; else leave it alone and say why."""
    try:
        files.swap(path, old, new)
    except UnreadableError as error:
        return str(error)
    return ""
