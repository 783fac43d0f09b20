"""
What a module has at its top level, by its text alone, and what `import *` may take from it.

Of what is imported there are some names too many, never one too few.

Only text outside of top-level functions and classes is read, in a fiftieth of the time that an outline takes. A package
that imports all of hundreds of modules is searched for names that few of them have.
"""

from __future__ import annotations

import itertools
import re
import sys
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple
from zlib import crc32

from msgspec import DecodeError, Struct, msgpack

from inplace_lint.effects.reachability import reachable
from inplace_lint.effects.swaps import may_set
from inplace_lint.workspace.claims import Claim, Question, digest
from inplace_lint.workspace.import_resolver import Lookup
from inplace_lint.workspace.import_statements import Imports, Statement, statements

# What is indented below a definition, and lines that close a bracket of it.
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)[^\n]*\n(?:[ \t\f)\]}#][^\n]*\n|\n)*", re.MULTILINE)
STARTS = re.compile(r"^(?:class|def|async[ \t]+def)[ \t]+(\w+)", re.MULTILINE)
_HINT = re.compile(r"[^\W_]_\(|[-+*/@%|&^]=|inplace|\][ \t]*=(?!=)|\bout=|\.data\b|\.step\(|\.backward\(")
_GAP = r"(?:[ \t\f]|\\\n)"
_STAR = re.compile(rf"\bfrom{_GAP}*(\.*){_GAP}*([\w.]*){_GAP}+import{_GAP}*\*|\bimport{_GAP}*\*")
# What stands after a dot is bound by nothing, and what is called only by a definition.
_WORD = re.compile(rf"(?:(?<=\bdef)|(?<=\bclass)){_GAP}+(\w+)|(?<![\w.])([^\W\d]\w*\b)(?![ \t]*\()")
_COMMENT = re.compile(r"^[ \t]*#(?:(?!\"{3}|'{3})[^\n])*$", re.MULTILINE)  # with no end of a string in it
_LIST = re.compile(r"^__all__[ \t]*(?::[^=\n]*)?=[ \t]*[\[(]([^\[\]()]*)[\])][ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_ITEMS = re.compile(r"(?:\s|,|#[^\n]*\n|\"\w+\"|'\w+')*")
_ITEM = re.compile(r"#[^\n]*|[\"'](\w+)")

# An import of names, inside of a statement or not; what stands in brackets ends where the first of these closes.
_NAMES = re.compile(rf"^[ \t]*from{_GAP}+[\w.]+{_GAP}+import{_GAP}*(?:\([^)]*\)|(?:[^\n\\(;]|\\\n)*)", re.MULTILINE)
_RENAMES = re.compile(rf"\bas{_GAP}")

ANY = "*"  # any key
_WORDS = re.compile(r"\w+")
FEW = 8  # entries of a small registry
_METHOD = re.compile(r"^[ \t]+(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
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
    names = [defined or name for defined, name in _WORD.findall(_COMMENT.sub("", text))]
    if "__all__" not in names:
        names = [name for name in names if not name.startswith("_")]
    return Bound(_interned(names), known if len(known) == len(stars) else None)


def without_bodies(source: str) -> str:
    """Return the text of a module outside of its functions and classes, with their names and decorators."""
    return _DEFINITION.sub(_kept, _normal(source))


def leading_names(text: str) -> set[str]:
    """
    Return the names of a file that may lead to a write, by hints in its text.

    They only choose among many callers. This is no use of the summaries of `effects`, since no file is parsed in a warm
    run.
    """
    starts = [*STARTS.finditer(text)]
    users: dict[str, set[str]] = {match[1]: set() for match in starts}
    writing: set[str] = set()
    for match, following in itertools.zip_longest(starts, starts[1:]):
        block = text[match.end() : len(text) if following is None else following.start()]
        for word in users.keys() & _WORDS.findall(block):
            users[word].add(match[1])
        if _HINT.search(block):
            writing.add(match[1])
    return reachable(writing, users)


class Outside(NamedTuple):
    """
    A digest of what a file has outside of functions and classes, and the hashes of its words, of four bytes each.

    The words of an import are not among them, unless it gives a name another one: it does nothing with them.
    """

    digest: str
    words: bytes


Put = tuple[tuple[str, frozenset[str]], ...]


class Header(Struct, array_like=True):
    """
    The imports of a file, and what is known of its text outside of functions and classes; None until it is asked.

    `put` is what it may put into registries of other files, see `TopLevels.put_elsewhere`, `methods` are the names of
    the functions in it that are not at its top level, `swaps`: it may set attributes of a framework.
    """

    statements: tuple[Statement, ...] | None = None
    outside: Outside | None = None
    put: Put | None = None
    methods: frozenset[str] | None = None
    swaps: bool | None = None


class Headers:
    """
    The headers of files by the digests of their bytes.

    `kept` are those of earlier runs, as `taken` returned them.
    """

    def __init__(self, kept: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self._kept = kept
        self._known: dict[str, Header] = {}
        self._new: dict[str, Header] = {}

    def statements(self, key: str, data: Callable[[], bytes]) -> tuple[Statement, ...]:
        """Return the imports of a file whose bytes have this digest."""
        known = self._of(key)
        if known.statements is None:
            known.statements = statements(data())
            self._new[key] = known
        return known.statements

    def outside(self, key: str, text: Callable[[], str]) -> Outside:
        """Return what is known of what a file has outside of functions and classes, which is the `text`."""
        known = self._of(key)
        if known.outside is None:
            outside = text()
            known.outside = Outside(digest(outside), array("I", sorted(hashes(_used(outside)))).tobytes())
            self._new[key] = known
        return known.outside

    def put(self, key: str, text: Callable[[], str]) -> Put:
        """Return what a file may put into registries of others; outside of functions and classes it is the `text`."""
        known = self._of(key)
        if known.put is None:
            known.put = tuple(_put(text()))
            self._new[key] = known
        return known.put

    def methods(self, key: str, source: Callable[[], str]) -> frozenset[str]:
        """Return the names of the functions that are not at the top level of a file, which is the `source`."""
        known = self._of(key)
        if known.methods is None:
            known.methods = frozenset(_METHOD.findall(_normal(source())))
            self._new[key] = known
        return known.methods

    def swaps(self, key: str, source: Callable[[], str], roots: Iterable[str]) -> bool:
        """Return whether a file, which is the `source`, may set attributes of a framework."""
        known = self._of(key)
        if known.swaps is None:
            known.swaps = may_set(_normal(source()), roots)
            self._new[key] = known
        return known.swaps

    def taken(self) -> dict[str, bytes]:
        """Return the headers that were made since they were taken last, as they can be kept."""
        found = {key: msgpack.encode(header) for key, header in self._new.items()}
        self._new.clear()
        return found

    def _of(self, key: str) -> Header:
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _decoded(self._kept.get(key))
        return known


def _decoded(data: bytes | None) -> Header:
    """Return a header as it was kept; an empty one where that is damaged."""
    try:
        found = Header() if data is None else msgpack.decode(data, type=Header)
    except DecodeError:
        return Header()
    whole = found.outside is None or len(found.outside.words) % array("I").itemsize == 0
    return found if whole else Header()


class TopLevels:
    """
    What files have at their top level, each read once.

    `read` returns the source of a file, `digest_of` the digest of its bytes; digests of texts are those of `headers`.
    """

    def __init__(self, read: Callable[[str], str], digest_of: Callable[[str], str], headers: Headers) -> None:
        self._read, self._digest_of, self._headers = read, digest_of, headers
        self._outside: dict[str, str] = {}
        self._words: dict[str, frozenset[int]] = {}
        self._filled: dict[tuple[frozenset[str], str, str], str] = {}

    def drop(self, path: str) -> None:
        """Forget a file that changed."""
        for known in (self._outside, self._words):
            known.pop(path, None)
        self._filled.clear()

    def words(self, path: str) -> frozenset[int]:
        """Return the `hashes` of what is outside of functions, classes and imports, with the names of the former."""
        if path not in self._words:
            found = array("I")
            found.frombytes(self._header(path).words)
            self._words[path] = frozenset(found)
        return self._words[path]

    def put_elsewhere(self, path: str) -> Put:
        """
        Return the name with which each decorator and statement that binds no name begins, with the texts after it.

        To the texts of a decorator belongs the name that it decorates: they may be keys of a registry.
        """
        return self._headers.put(self._digest_of(path), lambda: self._text(path))

    def filled(self, paths: frozenset[str], home: str, key: str) -> str:
        """
        Return a digest of what files may put under a key into a registry of the file `home`.

        It is the same while nothing at the top level of a file changes that has all words of the key, and nothing at
        home.
        """
        asked = (paths, home, key)
        if asked not in self._filled:
            words = frozenset[int]() if key == ANY else hashes(key)
            found = sorted(path for path in paths if path != home and words <= self.words(path))
            digests = ((path, self._header(path).digest) for path in found)
            self._filled[asked] = digest(repr([self._digest_of(home), *digests]))
        return self._filled[asked]

    def defines_method(self, path: str, name: str) -> bool:
        """Return whether a file may have a class with a method of this name."""
        return name in self._headers.methods(self._digest_of(path), lambda: self._read(path))

    def may_swap(self, path: str, roots: Iterable[str]) -> bool:
        """Return whether a file may set attributes of a framework."""
        return self._headers.swaps(self._digest_of(path), lambda: self._read(path), roots)

    def _text(self, path: str) -> str:
        if path not in self._outside:
            self._outside[path] = without_bodies(self._read(path))
        return self._outside[path]

    def _header(self, path: str) -> Outside:
        return self._headers.outside(self._digest_of(path), lambda: self._text(path))


class Unparsed:
    """
    What the files of a project tell without a parser: their imports, and what is at their top level.

    `data` returns the bytes of a file, `source` its text, `digest_of` the digest of its bytes.
    """

    def __init__(
        self,
        look_up: Lookup,
        data: Callable[[str], bytes],
        source: Callable[[str], str],
        digest_of: Callable[[str], str],
        headers: Headers,
    ) -> None:
        self.headers = headers
        self.imports = Imports(look_up, lambda path: headers.statements(digest_of(path), lambda: data(path)))
        self.top_levels = TopLevels(source, digest_of, headers)

    def drop(self, path: str) -> None:
        """Forget a file that changed."""
        self.imports.drop(path)
        self.top_levels.drop(path)

    def defining(self, path: str, name: str) -> list[str]:
        """Return the other files that an import of a file runs which may have a class with a method of a name."""
        run = self.imports.run_with(path) - {path}
        return sorted(one for one in run if self.top_levels.defines_method(one, name))

    def swapping(self, path: str, roots: Iterable[str]) -> list[str]:
        """Return the files that a file imports which may set attributes of a framework."""
        targets = sorted(self.imports.targets(path) - {path})
        return [one for one in targets if self.top_levels.may_swap(one, roots)]

    def answer(self, claim: Claim) -> str:
        """
        Return the digest of the answer to a question about all that an import of a file runs.

        What may it put into a registry, under a key? Which files have methods of a name?
        """
        if claim.question is Question.DEFINING:
            return digest(repr(self.defining(claim.path, claim.detail)))
        home, _, key = claim.detail.split("\n", 2)
        return self.top_levels.filled(self.imports.run_with(claim.path), home, key)


def _used(text: str) -> str:
    """Return a text without its imports of names that keep their names."""
    return _NAMES.sub(lambda match: match[0] if _RENAMES.search(match[0]) else "", text)


def _put(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    for match in _PUTS.finditer(text):
        found = {*_TEXT.findall(match[0]), *filter(None, [match["decorated"]])}
        yield match["name"] or match["called"], frozenset(one.lower() for one in found)


def hashes(text: str) -> frozenset[int]:
    """Return a number for each word of a text, the same in small and in capital letters; few words share one."""
    return frozenset(crc32(word.encode()) for word in {*_WORDS.findall(text.lower())})


def texts(source: str) -> frozenset[str]:
    """Return the texts in a source that look like keys, in small letters."""
    return frozenset(_TEXT.findall(source.lower()))


def names_one(source: str, keys: Iterable[str]) -> bool:
    """Return whether a source has one of some texts that look like keys, in small or in capital letters."""
    small = source.lower()
    return any(f'"{key}"' in small or f"'{key}'" in small for key in keys)


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
