"""
What a module has at its top level, by its text alone, and what `import *` may take from it.

Of what is imported there are some names too many, never one too few.

Only text outside of top-level functions and classes is read, in a fiftieth of the time that an outline takes. A package
that imports all of hundreds of modules is searched for names that few of them have.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from inplace_lint.workspace.claims import digest

# What is indented below a definition, and lines that close a bracket of it.
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)[^\n]*\n(?:[ \t\f)\]}#][^\n]*\n|\n)*", re.MULTILINE)
_GAP = r"(?:[ \t\f]|\\\n)"
_STAR = re.compile(rf"\bfrom{_GAP}*(\.*){_GAP}*([\w.]*){_GAP}+import{_GAP}*\*|\bimport{_GAP}*\*")
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")  # what stands after a dot is bound by nothing
_LIST = re.compile(r"^__all__[ \t]*(?::[^=\n]*)?=[ \t]*[\[(]([^\[\]()]*)[\])][ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_ITEMS = re.compile(r"(?:\s|,|#[^\n]*\n|\"\w+\"|'\w+')*")
_ITEM = re.compile(r"#[^\n]*|[\"'](\w+)")

ANY = "*"  # any key
_WORDS = re.compile(r"\w+")
FEW = 8  # entries of a small registry
_TEXT = re.compile(r"[\"']([^\W\d][\w.-]*)[\"']")
_PUTS = re.compile(
    r"^(?:@(?P<name>\w+)[^\n]*(?:\n[ \t)\]}@][^\n]*)*\n(?P<decorated>\w+)$"
    r"|(?P<called>\w+)[.(\[][^\n]*(?:\n[ \t)\]}][^\n]*)*)",
    re.MULTILINE,
)


class Bound(NamedTuple):
    """
    The names that a module may have, and the modules whose names it may import with `*`, with their levels.

    `stars` is None where the text leaves open which modules these are, and empty where `__all__` lists all names.
    """

    names: tuple[str, ...]
    stars: tuple[tuple[str, int], ...] | None


def bound(source: str) -> Bound:
    """Return what `import *` may take from a module of this text."""
    listed = _listed(_normal(source))
    if listed is not None:
        return Bound(listed, ())
    text = without_bodies(source)
    stars = [match.groups() for match in _STAR.finditer(text)]
    known = tuple((module, len(level)) for level, module in stars if level or module)
    return Bound(_interned(_WORD.findall(text)), known if len(known) == len(stars) else None)


def without_bodies(source: str) -> str:
    """Return the text of a module outside of its functions and classes, with their names and decorators."""
    return _DEFINITION.sub(_kept, _normal(source))


class TopLevels:
    """What files have at their top level, each read once; `read` returns the source of a file."""

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read
        self._lower: dict[str, str] = {}
        self._outside: dict[str, str] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._put: dict[str, tuple[tuple[str, frozenset[str]], ...]] = {}
        self._digests: dict[str, str] = {}

    def drop(self, path: str) -> None:
        """Forget a file that changed."""
        for known in (self._lower, self._outside, self._words, self._put, self._digests):
            known.pop(path, None)

    def words(self, path: str) -> frozenset[str]:
        """Return the words outside of functions and classes, in small letters, with the names of these."""
        if path not in self._words:
            self._words[path] = frozenset(_WORDS.findall(self._text(path).lower()))
        return self._words[path]

    def put_elsewhere(self, path: str) -> tuple[tuple[str, frozenset[str]], ...]:
        """
        Return the name with which each decorator and statement that binds no name begins, with the texts after it.

        To the texts of a decorator belongs the name that it decorates: they may be keys of a registry.
        """
        if path not in self._put:
            self._put[path] = tuple(_put(self._text(path)))
        return self._put[path]

    def filled(self, paths: Iterable[str], home: str, key: str) -> str:
        """
        Return a digest of what files may put under a key into a registry of the file `home`.

        It is the same while nothing at the top level of a file changes that has all words of the key, and nothing at
        home.
        """
        words = [] if key == ANY else _WORDS.findall(key.lower())
        found = [path for path in paths if path != home and all(word in self._in_small(path) for word in words)]
        return digest(repr([digest(self._read(home)), *((path, self._digest(path)) for path in sorted(found))]))

    def _text(self, path: str) -> str:
        if path not in self._outside:
            self._outside[path] = without_bodies(self._read(path))
        return self._outside[path]

    def _in_small(self, path: str) -> str:
        if path not in self._lower:
            self._lower[path] = self._read(path).lower()
        return self._lower[path]

    def _digest(self, path: str) -> str:
        if path not in self._digests:
            self._digests[path] = digest(self._text(path))
        return self._digests[path]


def _put(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    for match in _PUTS.finditer(text):
        found = {*_TEXT.findall(match[0]), *filter(None, [match["decorated"]])}
        yield match["name"] or match["called"], frozenset(one.lower() for one in found)


def texts(source: str) -> frozenset[str]:
    """Return the texts in a source that look like keys, in small letters."""
    return frozenset(_TEXT.findall(source.lower()))


def _normal(source: str) -> str:
    text = source.replace("\r", "\n")
    return text if text.isascii() else unicodedata.normalize("NFKC", text)  # as Python reads identifiers


def _listed(text: str) -> tuple[str, ...] | None:
    """Return the names of an `__all__` that is a plain list; None where there is none, or where it may be changed."""
    match = _LIST.search(text) if text.count("__all__") == 1 else None
    if match is None or _is_in_string(text[: match.start()]) or not _ITEMS.fullmatch(match[1]):
        return None
    return _interned([name for name in _ITEM.findall(match[1]) if name])


def _interned(names: list[str]) -> tuple[str, ...]:
    return tuple(map(sys.intern, {*names}))


def _is_in_string(before: str) -> bool:
    """Return whether a string of several lines may be open where a text ends."""
    return bool(before.count('"""') % 2 or before.count("'''") % 2)


def _kept(match: re.Match[str]) -> str:
    """Return the name of a matched definition alone; the whole text where a string may begin or end inside of it."""
    text = match[0]
    return text if _is_in_string(text) else f"{match[1]}\n"
