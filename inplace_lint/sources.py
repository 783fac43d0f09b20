"""
The files around those that are checked: what a process reads of them, and which of them import which.

Findings of a file also come from the roots of other files that lead into it. Therefore a run over some files of a
project runs the roots of all files that import these, directly or through others.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inplace_lint import files
from inplace_lint.errors import UnreadableError
from inplace_lint.outline.imports import Lookup

if TYPE_CHECKING:
    from inplace_lint.interp.project import Project

_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+(?P<level>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*"
    r"(?P<names>\([^)]*\)|(?:\\\r?\n|[^\n;])*)|import[ \t]+(?P<plain>[\w.][\w., \t]*))",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")
_MOST_FILES = 20_000
_PROJECTS: dict[tuple[str, str], Project] = {}


def project(root: str, frameworks: Iterable[str]) -> Project:
    """Give what this process has read below a root so far."""
    from inplace_lint.interp.project import Project  # noqa: PLC0415 - libcst only where files are analyzed

    here = Path.cwd().as_posix()
    if (here, root) not in _PROJECTS:
        _PROJECTS[here, root] = Project(_lookup(root, frameworks), _text)
    return _PROJECTS[here, root]


def forget() -> None:
    """Read files again from here on: what was read before may have changed."""
    _PROJECTS.clear()


class Graph:
    """Which files of a project import which; `texts` are files that were read already."""

    def __init__(self, root: str, frameworks: Iterable[str], texts: Mapping[str, bytes]) -> None:
        self.root, self._texts = root, dict(texts)
        self._look_up = _lookup(root, frameworks)
        self._targets: dict[str, frozenset[str]] = {}
        self._digests: dict[str, bytes] = {}

    def text(self, path: str) -> bytes:
        """Give the bytes of a file; none when it cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = files.read(Path(path))
            except UnreadableError:
                self._texts[path] = b""
        return self._texts[path]

    def below(self, path: str) -> set[str]:
        """Give the files that a file imports, directly or through others."""
        found: set[str] = set()
        waiting = [path]
        while waiting:
            more = self._imports(waiting.pop()) - found
            found |= more
            waiting.extend(more)
        return found - {path}

    def above(self, wanted: Iterable[str], exclude: Mapping[Path, Sequence[str]]) -> set[str]:
        """Give the files of the project that import a wanted one, directly or through others."""
        everything = [files.shown(path) for path in files.find([Path(self.root)], exclude).files[:_MOST_FILES]]
        by_target: dict[str, set[str]] = {}
        for path in {*everything, *self._texts}:
            for target in self._imports(path):
                by_target.setdefault(target, set()).add(path)
        found: set[str] = set()
        waiting = list(wanted)
        while waiting:
            more = by_target.get(waiting.pop(), set()) - found
            found |= more
            waiting.extend(more)
        return found

    def state(self, path: str) -> bytes:
        """Give a digest of all files that a file imports, directly or through others: other imports give another."""
        total = hashlib.sha256()
        for name in sorted(self.below(path)):
            if name not in self._digests:
                self._digests[name] = hashlib.sha256(self.text(name)).digest()
            total.update(name.encode() + self._digests[name])
        return total.digest()

    def _imports(self, path: str) -> frozenset[str]:
        known = self._targets.get(path)
        if known is None:
            known = self._targets[path] = frozenset(self._imported(path))
        return known

    def _imported(self, path: str) -> Iterator[str]:
        """List the files that the imports of a file may mean; text that only looks like an import does no harm here."""
        text = _COMMENT.sub(b"", self.text(path)).decode("utf-8", "replace")
        for match in _IMPORT.finditer(text):
            if match["plain"] is not None:
                for part in match["plain"].split(","):
                    yield from self._modules(path, part.split()[0] if part.split() else "")
                continue
            target = self._look_up.resolve(path, match["module"], len(match["level"]))
            if target is not None:
                yield target
                inner = (self._look_up.submodule(target, name) for name in re.findall(r"\w+", match["names"]))
                yield from (name for name in inner if name is not None)

    def _modules(self, path: str, dotted: str) -> Iterator[str]:
        """List the files of a dotted module and of the packages that it is in."""
        words = dotted.split(".")
        for end in range(1, len(words) + 1):
            target = self._look_up.resolve(path, ".".join(words[:end]), 0)
            if target is not None:
                yield target


def root_of(path: Path) -> str:
    """
    Give the folder that the imports of a file are looked up in, at most.

    It is the nearest folder above it that looks like the root of a project, else the working folder if the file lies
    below it, else the folder that holds its outermost package.
    """
    marks = ("pyproject.toml", ".git", "setup.py", "setup.cfg", "inplace-lint.toml", ".inplace-lint.toml")
    folder = Path(os.path.abspath(path)).parent  # noqa: PTH100 - `resolve` would follow links
    for place in (folder, *folder.parents):
        if any((place / mark).exists() for mark in marks):
            return place.as_posix()
    if folder.is_relative_to(Path.cwd()):
        return Path.cwd().as_posix()
    while (folder / "__init__.py").exists() and folder.parent != folder:
        folder = folder.parent
    return folder.as_posix()


def _lookup(root: str, frameworks: Iterable[str]) -> Lookup:
    return Lookup(os.path.isfile, Path.cwd().as_posix(), root, frozenset(frameworks))


def _text(path: str) -> str | None:
    try:
        return files.decode(files.read(Path(path)))
    except UnreadableError:
        return None
