"""
What `import *` may take from a module, by its text alone: some names too many, never one too few.

Only text outside of top-level functions and classes is read, in a fiftieth of the time that an outline takes. A package
that imports all of hundreds of modules is searched for names that few of them have.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from typing import NamedTuple

# What is indented below a definition, and lines that close a bracket of it.
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)[^\n]*\n(?:[ \t\f)\]}#][^\n]*\n|\n)*", re.MULTILINE)
_GAP = r"(?:[ \t\f]|\\\n)"
_STAR = re.compile(rf"\bfrom{_GAP}*(\.*){_GAP}*([\w.]*){_GAP}+import{_GAP}*\*|\bimport{_GAP}*\*")
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")  # what stands after a dot is bound by nothing
_LIST = re.compile(r"^__all__[ \t]*(?::[^=\n]*)?=[ \t]*[\[(]([^\[\]()]*)[\])][ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_ITEMS = re.compile(r"(?:\s|,|#[^\n]*\n|\"\w+\"|'\w+')*")
_ITEM = re.compile(r"#[^\n]*|[\"'](\w+)")


class Bound(NamedTuple):
    """
    The names that a module may have, and the modules whose names it may import with `*`, with their levels.

    `stars` is None where the text leaves open which modules these are, and empty where `__all__` lists all names.
    """

    names: tuple[str, ...]
    stars: tuple[tuple[str, int], ...] | None


def bound(source: str) -> Bound:
    """Return what `import *` may take from a module of this text."""
    text = source.replace("\r", "\n")
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)  # as Python reads identifiers
    listed = _listed(text)
    if listed is not None:
        return Bound(listed, ())
    text = _DEFINITION.sub(_kept, text)
    stars = [match.groups() for match in _STAR.finditer(text)]
    known = tuple((module, len(level)) for level, module in stars if level or module)
    return Bound(_interned(_WORD.findall(text)), known if len(known) == len(stars) else None)


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
