"""
The import statements of a file by its text alone, and the files that these run.

No parser runs: imports in functions, and strings that look so, are included.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from inplace_lint.workspace.import_resolver import INIT, Lookup

_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+(?P<level>\.*)[ \t]*(?P<module>[\w.]*)[ \t]+import[ \t]*"
    r"(?P<names>\([^)]*\)|(?:\\\r?\n|[^\n;])*)|import[ \t]+(?P<plain>[\w.][\w., \t]*))",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(r"\w+|\*")
_BASES = re.compile(rb"^class \w+\(\s*(\w+)", re.MULTILINE)
_BY_NAME = re.compile(rb"\b(?:import_module|__import__)\(")
ALL = "*"


class Statement(NamedTuple):
    """
    `from module import names`, with a level as in `ast`; without names, `import module`.

    The module `*` stands for all modules of the package that the file is: it imports what it finds in its folder.
    """

    module: str
    level: int = 0
    names: tuple[str, ...] | None = None


def statements(data: bytes) -> tuple[Statement, ...]:
    """Return the import statements in the bytes of a file, inside of functions too."""
    plain = _COMMENT.sub(b"", data)
    found = _found(plain.decode("utf-8", "replace"))
    return (*found, Statement(ALL)) if _BY_NAME.search(plain) else tuple(found)


def _found(text: str) -> Iterator[Statement]:
    for match in _IMPORT.finditer(text):
        if match["plain"] is None:
            yield Statement(match["module"], len(match["level"]), tuple(dict.fromkeys(_NAME.findall(match["names"]))))
            continue
        words = (part.split() for part in match["plain"].split(","))
        yield from (Statement(word[0] if word else "") for word in words)


class Imports:
    """The imports of the files that `look_up` finds; `read` returns the import statements of a file."""

    def __init__(self, look_up: Lookup, read: Callable[[str], Sequence[Statement]]) -> None:
        self._look_up, self.read = look_up, read
        self._targets: dict[str, frozenset[str]] = {}
        self._meant: dict[str, tuple[tuple[str, frozenset[str]], ...]] = {}
        self._sources: dict[str, Mapping[str, str]] = {}
        self._running: dict[str, frozenset[str]] = {}
        self._run_with: dict[str, frozenset[str]] = {}

    def knows(self, path: str) -> bool:
        """Return whether the imports of a file were read."""
        return path in self._meant

    def drop(self, path: str) -> None:
        """Forget the imports of a file that changed, and those of its package, which may import what is in a folder."""
        for known in (path, posixpath.join(posixpath.dirname(path), INIT)):
            for found in (self._targets, self._meant, self._sources, self._running):
                found.pop(known, None)
        self._run_with.clear()

    def meant(self, path: str) -> tuple[tuple[str, frozenset[str]], ...]:
        """Return the files that imports mean, each with the names after `import`."""
        known = self._meant.get(path)
        if known is None:
            known = self._meant[path] = tuple(self._imported(path))
        return known

    def sources(self, path: str) -> Mapping[str, str]:
        """Return for each name that a file imports from another one the file: of several the first."""
        known = self._sources.get(path)
        if known is None:
            pairs = reversed([(name, target) for target, names in self.meant(path) for name in names if name != "*"])
            known = self._sources[path] = dict(pairs)
        return known

    def stars(self, path: str) -> list[str]:
        """Return the files of which a file imports all names."""
        return [target for target, names in self.meant(path) if "*" in names]

    def targets(self, path: str) -> frozenset[str]:
        """Return the files that the imports of a file may run."""
        known = self._targets.get(path)
        if known is None:
            found = set[str]()
            for target, names in self.meant(path):
                found.add(target)
                inner = (self._look_up.submodule(target, name) for name in names)
                found.update(name for name in inner if name is not None)
            known = self._targets[path] = frozenset(found)
        return known

    def below(self, paths: Iterable[str]) -> set[str]:
        """Return the files that some files import, directly or through others."""
        found: set[str] = set()
        waiting = [*paths]
        while waiting:
            more = self.targets(waiting.pop()) - found
            found |= more
            waiting.extend(more)
        return found

    def run_with(self, path: str) -> frozenset[str]:
        """Return what an import of a file runs: the file, what it imports, and the packages of all of these."""
        if path not in self._run_with:
            self._run_with[path] = self._all_run_with(path)
        return self._run_with[path]

    def _all_run_with(self, path: str) -> frozenset[str]:
        found = {path}
        waiting = [path]
        while waiting:
            here = waiting.pop()
            if here not in self._running:
                self._running[here] = self.targets(here).union(self._packages(here))
            more = self._running[here] - found
            found |= more
            waiting.extend(more)
        return frozenset(found)

    def _packages(self, path: str) -> Iterator[str]:
        """Yield the package that a file is in, or that a package is in."""
        folder = posixpath.dirname(path)
        home = posixpath.dirname(folder) if posixpath.basename(path) == INIT else folder
        package = self._look_up.resolve(posixpath.join(home, INIT), "", 1)
        if package is not None and package != path:
            yield package

    def _imported(self, path: str) -> Iterator[tuple[str, frozenset[str]]]:
        for statement in self.read(path):
            if statement.names is None:
                whole = (
                    self._look_up.modules(path) if statement.module == ALL else self._modules(path, statement.module)
                )
                yield from ((target, frozenset()) for target in whole)
                continue
            module = self._look_up.resolve(path, statement.module, statement.level)
            if module is not None:
                yield module, frozenset(statement.names)
                continue
            for name in sorted({*statement.names} - {"*"}):
                inner = self._look_up.part(path, statement.module, name, statement.level)
                if inner is not None:
                    yield inner, frozenset()

    def _modules(self, path: str, dotted: str) -> Iterator[str]:
        """Return the files of a dotted module and of the packages that it is in."""
        words = dotted.split(".")
        for end in range(1, len(words) + 1):
            target = self._look_up.resolve(path, ".".join(words[:end]), 0)
            if target is not None:
                yield target


def derives(data: bytes) -> bool:
    """Check whether a class may derive from one that the file imports from another file of its project."""
    bases = {base.decode() for base in _BASES.findall(data)}
    return bool(bases) and any(
        (one.level > 0 or one.module.partition(".")[0] not in sys.stdlib_module_names)
        and not bases.isdisjoint(one.names or ())
        for one in statements(data)
    )
