"""
What one process keeps from run to run of the files of a project, for an editor or a watcher.

What is read again is what changed: before each run every file and folder is looked at, which costs one `stat` each.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from inplace_lint.workspace import import_graph
from inplace_lint.workspace.files import SKIPPED
from inplace_lint.workspace.import_graph import Graph
from inplace_lint.workspace.import_resolver import STUB

_RACE_NS = 20_000_000  # a file that is written so soon after it was read may have the same time


class Memory:
    """
    The graphs of imports of earlier runs, and with them what the process has read of the files.

    Files that were added or removed make all of it be read anew, since they may win look-ups.
    """

    def __init__(self) -> None:
        self._graphs: dict[str, Graph] = {}
        self._texts: Mapping[str, bytes] = {}
        self._marks: dict[str, tuple[int, int] | None] = {}
        self._names: dict[str, tuple[tuple[int, int] | None, frozenset[str]]] = {}

    def refresh(self, texts: Mapping[str, bytes]) -> None:
        """Forget what was read of files that changed since the last run; `texts` replace the files at their paths."""
        if any(self._is_other(folder) for folder in self._names):
            self.forget()
        changed = {path for path, mark in self._marks.items() if mark != _mark(path)}
        changed |= {path for path in {*texts, *self._texts} if texts.get(path) != self._texts.get(path)}
        changed |= {path for graph in self._graphs.values() for path in graph.read_paths()} - self._marks.keys()
        self._texts = dict(texts)
        for path in changed:
            self._marks.pop(path, None)
        for graph in self._graphs.values():
            for path in changed:
                graph.drop(path, texts.get(path))

    def graph(self, root: str, make: Callable[[str], Graph]) -> Graph:
        """Return the graph of the imports below a root: that of the last run, or a new one."""
        if root not in self._graphs:
            self._graphs[root] = make(root)
        return self._graphs[root]

    def remember(self, since: int) -> None:
        """Note how the files are that a run has read, which began at a time in nanoseconds."""
        for path in {path for graph in self._graphs.values() for path in graph.read_paths()} - self._marks.keys():
            mark = _mark(path)
            if mark is None or mark[0] < since - _RACE_NS:
                self._marks[path] = mark
            folder = os.path.dirname(path) or "."  # noqa: PTH120 - these are thousands
            if folder not in self._names:
                self._names[folder] = _mark(folder), _names(folder)

    def forget(self) -> None:
        """Forget everything that was read."""
        import_graph.forget()
        self._graphs.clear()
        self._marks.clear()
        self._names.clear()

    def _is_other(self, folder: str) -> bool:
        """Check whether a folder has other names of folders and Python files than it had."""
        mark, names = self._names[folder]
        return _mark(folder) != mark and _names(folder) != names


def _mark(path: str) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        found = os.stat(path)  # noqa: PTH116 - these are thousands
        return found.st_mtime_ns, found.st_size
    return None


def _names(folder: str) -> frozenset[str]:
    with contextlib.suppress(OSError):
        entries = (entry for entry in Path(folder).iterdir() if entry.name not in SKIPPED)
        return frozenset(entry.name for entry in entries if entry.suffix in {".py", STUB} or entry.is_dir())
    return frozenset()
