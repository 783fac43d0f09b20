"""
The imports between the files of a project, and what one process has read of them.

Findings of a file also come from entry points of other files that call into it. A run over some files of a project
therefore runs the entry points of files that import something from them as well, so that the findings in a file do not
depend on which other files are checked.
"""

from __future__ import annotations

import itertools
import os
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inplace_lint.config.settings import is_there, marked_root
from inplace_lint.core.errors import UnreadableError
from inplace_lint.workspace import files
from inplace_lint.workspace.claims import Claim, Question, digest
from inplace_lint.workspace.import_resolver import INIT, Lookup
from inplace_lint.workspace.places import Disk, Shipped
from inplace_lint.workspace.top_level import FEW, STARTS, Headers, Unparsed, leading_names, names_one

if TYPE_CHECKING:
    from inplace_lint.workspace.module_store import Earlier, Project

_ASSIGNED = re.compile(r"^(?!__)(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_MOST_FILES = 20_000
_MOST_UNMARKED = 1_000
_MOST_CALLERS = 16
_MOST_ASKING = 64  # importers of a registry that are looked at
_DEEPEST = 6
_MOST_KEPT = 256 << 20
_PROJECTS: dict[tuple[str, str], Project] = {}


def project(
    root: str,
    frameworks: Iterable[str],
    place: Disk | Shipped,
    earlier: Earlier | None = None,
    unparsed: Unparsed | None = None,
) -> Project:
    """
    Return what this process has read below a root so far, from a place.

    `earlier` is what earlier runs kept of the files, `unparsed` what is known of their texts. What takes too much
    memory is dropped; it is read again when it is needed, with the same result.
    """
    from inplace_lint.workspace.module_store import Project  # noqa: PLC0415 - libcst only where files are analyzed

    here = place.here
    if (here, root) not in _PROJECTS:
        _PROJECTS[here, root] = Project(_lookup(root, frameworks, place), place.text, earlier, unparsed)
    _PROJECTS[here, root].read = place.text
    if sum(known.weight() for known in _PROJECTS.values()) > _MOST_KEPT:
        for known in _PROJECTS.values():
            known.lighten()
    return _PROJECTS[here, root]


def forget() -> None:
    """Drop everything that was read: files may have changed since."""
    _PROJECTS.clear()


class Graph:
    """
    Which files of a project import which; `texts` are the contents of files that were read already.

    `earlier` is what earlier runs kept of single files.
    """

    def __init__(
        self,
        root: str,
        frameworks: Iterable[str],
        texts: Mapping[str, bytes],
        exclude: Mapping[Path, Sequence[str]],
        earlier: Earlier | None = None,
    ) -> None:
        self._earlier = earlier
        self.root, self._texts, self._exclude = root, dict(texts), exclude
        self._look_up = _lookup(root, frameworks, Disk(self._texts))
        self.headers = Headers({} if earlier is None else earlier.headers())
        self._unparsed = Unparsed(self._look_up, self.text, self._source, self._digest, self.headers)
        self._imports, self._top_levels = self._unparsed.imports, self._unparsed.top_levels
        self._homes: dict[tuple[str, str], str] = {}
        self._users: dict[str, dict[str, dict[str, set[str]]]] = {}
        self._definitions: dict[str, frozenset[str]] = {}
        self._packages: dict[str, str] = {}
        self._listed: set[str] | None = None
        self._around: dict[str, list[str]] = {}
        self._callers: dict[str, tuple[str, ...]] = {}
        self._registering: set[str] = set()  # whose callers are decided by texts
        self._digests: dict[str, str] = {}

    def text(self, path: str) -> bytes:
        """Return the bytes of a file; none when it cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = files.read(Path(path))
            except UnreadableError:
                self._texts[path] = b""
        return self._texts[path]

    def read_paths(self) -> set[str]:
        """Return the paths of all files that were read so far, by this graph or by what analyses read."""
        known = _PROJECTS.get((Path.cwd().as_posix(), self.root))
        return {*self._texts, *self._digests, *(() if known is None else known.digests)}

    def update(self, texts: Mapping[str, bytes]) -> None:
        """Take texts for those of the files at their paths."""
        for path, text in texts.items():
            if self._texts.get(path) != text:
                self.drop(path, text)

    def drop(self, path: str, text: bytes | None) -> None:
        """Forget what is known of a file that changed; it has this text now, or what can be read at its path."""
        imports = self._imports.read(path) if self._imports.knows(path) else None
        definitions = self._definitions.get(path)
        facts: tuple[dict[str, Any], ...] = (self._texts, self._digests, self._definitions, self._callers)
        for known in facts:
            known.pop(path, None)
        self._unparsed.drop(path)
        for user in self._registering:
            self._callers.pop(user, None)
        if text is not None:
            self._texts[path] = text
        other = imports is not None and imports != self._imports.read(path)
        if other or (definitions is not None and definitions != self._defined(path)):
            for found in (self._homes, self._users, self._callers, self._around):
                found.clear()
        if (Path.cwd().as_posix(), self.root) in _PROJECTS:
            self.project().drop(path)

    def below(self, paths: Iterable[str]) -> set[str]:
        """Return the files that some files import, directly or through others."""
        return self._imports.below(paths)

    def callers(self, path: str) -> tuple[str, ...]:
        """
        Return the files whose entry points may find something in a file: those that import something defined in it.

        Re-exports are followed to the file that defines a name. At most `_MOST_CALLERS` are returned. If there are
        more, only those count that import something that leads to a write; direct importers come before those that
        import these, and of each the nearest folders first.
        """
        known = self._callers.get(path)
        if known is None:
            known = self._callers[path] = self._nearest(path)
        return known

    def users(self, path: str) -> Mapping[str, set[str]]:
        """Return the files that import something defined in a file, each with the names; "" is the file as a whole."""
        return self._users_of(self._package(path)).get(path, {})

    def mentioning(self, path: str, word: str) -> list[str]:
        """Return the files that may use a file, and itself, in which a word occurs."""
        searched = word.encode("utf-8", "surrogatepass")
        return [known for known in self._files(self._package(path)) if searched in self.text(known)]

    def around(self, path: str) -> str:
        """Return a digest of all files that may use a file, with their paths."""
        return digest("\n".join(f"{one} {self._digest(one)}" for one in self._files(self._package(path))).encode())

    def others(self, paths: Collection[str]) -> set[str]:
        """Return the files that may use some files, without these."""
        packages = {self._package(path) for path in paths}
        return {known for package in packages for known in self._files(package)}.difference(paths)

    def has(self, path: str, package: str) -> bool:
        """Check whether a file, at `path`, imports a package or module of this name from the project."""
        return self._look_up.resolve(path, package, 0) is not None

    def _nearest(self, path: str) -> tuple[str, ...]:
        known = self._users_of(self._package(path))
        found: dict[str, None] = {}
        level = {path}
        while level and len(found) < _MOST_CALLERS:
            users = {user for target in level for user in self._using(target, known)} - found.keys() - {path}
            nearest = _by_distance(users, path)
            if level == {path} and len(users) > _MOST_CALLERS:
                nearest = self._leading(path, nearest, known[path])
            found.update(dict.fromkeys(nearest if level != {path} else [*nearest, *self._asking(path, known)]))
            level = users
        return tuple(found)[:_MOST_CALLERS]

    def _using(self, path: str, known: Mapping[str, Mapping[str, set[str]]]) -> Iterable[str]:
        """
        Return the files that import something of a file; of a package, only what it has itself, or all of it.

        What it only passes on counts where it is defined. `import a.b` runs `a`, and takes nothing of it.
        """
        users = known.get(path, {})
        if posixpath.basename(path) != INIT:
            return users
        own = {"*", *self._defined(path), *_ASSIGNED.findall(self._decoded(path))}
        inner = [target for target in known if target.startswith(path.removesuffix(INIT)) and target != path]
        of_inner = {user for target in inner for user, names in known[target].items() if "" in names}
        return [user for user, of in users.items() if not own.isdisjoint(of) or ("" in of and user not in of_inner)]

    def _asking(self, path: str, known: Mapping[str, Mapping[str, set[str]]]) -> list[str]:
        """
        Return the files that import a registry into which a file puts something, and may ask for it; nearest first.

        They have its key, or the registry is small.
        """
        put = self._top_levels.put_elsewhere(path)
        found: set[str] = set()
        for home, name in self._meant(path, self._package(path)) if put else ():
            keys = frozenset[str]().union(*(texts for first, texts in put if first == (name or Path(home).stem)))
            users = known.get(home, {}) if keys else {}
            small = 0 < len(users) <= _MOST_ASKING and self._is_small(users)
            near = _by_distance(users, path)[:_MOST_ASKING]
            # Files of models register models of their own, and name others without looking them up.
            asking = (one for one in near if all(first != name for first, _ in self._top_levels.put_elsewhere(one)))
            found.update(one for one in asking if small or names_one(self._source(one), keys))
        if put:
            self._registering.add(path)
        return _by_distance(found, path)

    def _is_small(self, users: Mapping[str, set[str]]) -> bool:
        """Return whether the files that import some names of a module put few things into it."""
        put = (name in names for user, names in users.items() for name, _ in self._top_levels.put_elsewhere(user))
        return sum(itertools.islice(filter(None, put), FEW + 1)) <= FEW

    def _source(self, path: str) -> str:
        try:
            return files.decode(self.text(path))
        except UnreadableError:
            return ""

    def _decoded(self, path: str) -> str:
        return self.text(path).decode("utf-8", "replace")

    def _leading(self, path: str, users: Sequence[str], names: Mapping[str, set[str]]) -> list[str]:
        """Return those of the importers of a file that import what leads to a write, in turns for each such name."""
        leading = leading_names(self._decoded(path))
        of_each = [[user for user in users if name in names[user]] for name in sorted({*leading, "", "*"})]
        return [user for turn in itertools.zip_longest(*of_each) for user in turn if user is not None]

    def _users_of(self, package: str) -> dict[str, dict[str, set[str]]]:
        """
        Return for each file of an outermost package (of no package, if that is empty) which files import what of it.

        A file outside a package can only do so if the name of the package occurs in it.
        """
        known = self._users.get(package)
        if known is None:
            known = self._users[package] = {}
            word = posixpath.basename(package).encode("utf-8", "surrogateescape")
            for user in self._files(package):
                if user.startswith(f"{package}/") or word in self.text(user):
                    for target, name in self._meant(user, package):
                        known.setdefault(target, {}).setdefault(user, set()).add(name)
        return known

    def _package(self, path: str) -> str:
        """Return the folder of the outermost package that a file is in; empty if it is in none."""
        folder = posixpath.dirname(path)
        known = self._packages.get(folder)
        if known is None:
            known, above = "", folder
            while posixpath.basename(above) and _is_of_package(Path(above)):
                known, above = above, posixpath.dirname(above)
            self._packages[folder] = known
        return known

    def _files(self, package: str) -> list[str]:
        """Return the files that may import something of an outermost package, or of a file in none."""
        known = self._around.get(package)
        if known is None:
            # A folder that nothing marks as a project may be a home folder, or the temporary one.
            marked = marked_root(Path(self.root), own=True) is not None
            if self._listed is None:
                self._listed = {*self._below(self.root, _MOST_FILES if marked else _MOST_UNMARKED), *self._texts}
            inside = self._below(package, _MOST_FILES) if package and not marked else ()
            known = self._around[package] = sorted(self._listed.union(inside))
        return known

    def _below(self, folder: str, most: int) -> Iterator[str]:
        listed = files.find([Path(folder)], self._exclude, most).files[:most]
        return (files.shown(path) for path in listed if path.suffix == ".py")

    def answer(self, claim: Claim) -> str:
        """Return the digest of the answer to a question today; a file is parsed for what is not coarse."""
        match claim.question:
            case Question.BYTES:
                return self._digest(claim.path)
            case Question.RESOLVE | Question.SUBMODULE:
                return self._look_up.answer(claim)
            case Question.FILLED | Question.DEFINING:
                return self._unparsed.answer(claim)
            case _:
                return self.project().answer(claim)

    def project(self) -> Project:
        """Return what this process has read of the files so far."""
        return project(self.root, self._look_up.frameworks, Disk(self._texts), self._earlier, self._unparsed)

    def _digest(self, path: str) -> str:
        if path not in self._digests:
            data = self.text(path)
            self._digests[path] = digest(data) if data or Path(path).is_file() else ""
        return self._digests[path]

    def _meant(self, path: str, package: str) -> set[tuple[str, str]]:
        """Return what a file imports of an outermost package (of all, if empty), with the file that defines it."""
        found = set[tuple[str, str]]()
        for target, names in self._imports.meant(path):
            if not package or target.startswith(f"{package}/"):
                for name in names or ("",):
                    part = self._look_up.submodule(target, name) if name else None
                    found.add((self._home(target, name, 0), name) if part is None else (part, ""))
        return found

    def _home(self, path: str, name: str, depth: int) -> str:
        """Return the file that defines a name of a module, as far as re-exports tell."""
        key = (path, name)
        if key not in self._homes:
            self._homes[key] = path
            inner = self._look_up.submodule(path, name) if name else None
            self._homes[key] = inner or self._exporter(path, name, depth) or path
        return self._homes[key]

    def _defined(self, path: str) -> frozenset[str]:
        """Return the functions and classes that a file defines at its top level."""
        if path not in self._definitions:
            self._definitions[path] = frozenset(STARTS.findall(self._decoded(path)))
        return self._definitions[path]

    def _exporter(self, path: str, name: str, depth: int) -> str | None:
        if depth == _DEEPEST or not name:
            return None
        target = self._imports.sources(path).get(name)
        if target is not None:
            return self._home(target, name, depth + 1)
        for other in self._imports.stars(path):
            home = self._home(other, name, depth + 1)
            if name in self._defined(home):
                return home
        return None


def _by_distance(paths: Collection[str], path: str) -> list[str]:
    """Order files by how near their folders are to that of a path."""
    near = {folder: -_shared(folder, path) for folder in {posixpath.dirname(one) for one in paths}}
    return sorted(paths, key=lambda one: (near[posixpath.dirname(one)], one))


def _shared(folder: str, path: str) -> int:
    """Return how many folders a path has in common with another folder."""
    pairs = zip(folder.split("/"), path.split("/")[:-1], strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def root_of(path: Path) -> str:
    """
    Return the topmost folder in which the imports of a file are looked up.

    It is the nearest folder above it that looks like the root of a project. Without one it is the working folder if the
    file is below that, and inside of a package the folder that holds the outermost package.
    """
    folder = Path(os.path.abspath(path)).parent  # noqa: PTH100 - `resolve` would follow links
    marked = marked_root(folder, own=True)
    if marked is not None:
        return marked.as_posix()
    if folder.is_relative_to(Path.cwd()):
        folder = Path.cwd()
    while _is_of_package(folder) and folder.parent != folder:
        folder = folder.parent
    return folder.as_posix()


def _is_of_package(folder: Path) -> bool:
    """Check whether a folder is a package, or lies in one: a package needs no file that says so."""
    return is_there(folder / "__init__.py") or is_there(folder.parent / "__init__.py")


def _lookup(root: str, frameworks: Iterable[str], place: Disk | Shipped) -> Lookup:
    return Lookup(place.finder(), place.here, root, frozenset(frameworks), place.names)
