"""Where the files of a project are read: on the disk of this machine, or in memory, as another machine sent them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
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

    def finder(self) -> Callable[[str], bool]:
        """Return a function that checks whether there is a file; what is in a folder is read when it is first asked."""
        return _Folders().have

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


class _Folders:
    """
    What is in folders, each read once: thousands of paths are asked for in tens of folders, and most are not there.

    Folders are written with the slash at their end; the empty one is the working folder.
    """

    def __init__(self) -> None:
        self._files: dict[str, frozenset[str]] = {}
        self._folders: dict[str, frozenset[str]] = {}

    def have(self, path: str) -> bool:
        """Return whether there is such a file."""
        start = path.rfind("/") + 1
        folder = path[:start]
        if folder not in self._files:
            self._read(folder)
        return path[start:] in self._files[folder]

    def _read(self, folder: str) -> None:
        start = folder.rfind("/", 0, -1) + 1
        name = folder[start:-1]
        entries: list[os.DirEntry[str]] = []
        if not name or name in self._folders.get(folder[:start], {name}):
            with contextlib.suppress(OSError, ValueError), os.scandir(folder or ".") as found:
                entries = [*found]
        self._files[folder] = frozenset(entry.name for entry in entries if _is_file(entry))
        self._folders[folder] = frozenset(entry.name for entry in entries if entry.name not in self._files[folder])


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that the system does not follow
        return False


class Shipped(NamedTuple):
    """Files that stand for all on disk, by path; None for one that cannot be read. `here` is as for `Disk`."""

    here: str
    data: Mapping[str, bytes | None]

    def finder(self) -> Callable[[str], bool]:
        """Return a function that checks whether there is a file."""
        return self.data.__contains__

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
