"""Where the files of a project are read: on the disk of this machine, or in memory, as another machine sent them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from inplace_lint.core.errors import UnreadableError
from inplace_lint.workspace import files
from inplace_lint.workspace.claims import Text, digest


class Disk(NamedTuple):
    """The files of this machine; `texts` replace those at their paths."""

    texts: Mapping[str, bytes]

    @property
    def here(self) -> str:
        """The folder that paths are relative to."""
        return Path.cwd().as_posix()

    def has(self, path: str) -> bool:
        """Return whether there is such a file."""
        return os.path.isfile(path)  # noqa: PTH113 - this is asked for each import, and a `Path` takes longer

    def names(self, folder: str) -> list[str]:
        """Return the names of the files and folders in a folder; none if there is no such folder."""
        try:
            return [one.name for one in Path(folder).iterdir()]
        except OSError:
            return []

    def text(self, path: str) -> Text | None:
        """Return the text of a path, or None where there is no such file or it is no text."""
        try:
            return _text(self.texts[path] if path in self.texts else files.read(Path(path)))
        except UnreadableError:
            return None


class Shipped(NamedTuple):
    """Files that stand for all on disk, by path; None for one that cannot be read. `here` is as for `Disk`."""

    here: str
    data: Mapping[str, bytes | None]

    def has(self, path: str) -> bool:
        """Return whether there is such a file."""
        return path in self.data

    def names(self, folder: str) -> list[str]:
        """Return the names of the files and folders in a folder; none if there is no such folder."""
        start = f"{folder}/" if folder else ""
        return [*{path[len(start) :].partition("/")[0] for path in self.data if path.startswith(start)}]

    def text(self, path: str) -> Text | None:
        """Return the text of a path, or None where there is no such file or it is no text."""
        data = self.data.get(path)
        try:
            return None if data is None else _text(data)
        except UnreadableError:
            return None


def _text(data: bytes) -> Text:
    return Text(files.decode(data), digest(data))
