"""
What an analysis asks of the other files of a project, recorded, so that a later run can ask again.

    claim = Claim("pkg/layers.py", Question.CODE, "function Block 0")     # with the digest of the answer

A result depends on other files through these questions only, and each is about one file. Where all answers have the
same digests today, the result is what it was: this is a verifying trace ("Build Systems à la Carte", 2018). Digests
leave out comments, docstrings and positions, so that an edit of these changes no answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import Any, NamedTuple


class Question(str, Enum):
    """
    What was asked of the file at a path; of a folder for `RESOLVE`, for `FILLED` and `DEFINING` of all that an
    import of it runs, for `SWAPS` of what it imports.

    `BYTES` stands for all other questions about a file: they need not be asked again where its bytes are the same.
    """

    BYTES = "bytes"
    RESOLVE = "resolve"
    SUBMODULE = "submodule"
    READABLE = "readable"
    MENTIONS = "mentions"
    NAMES = "names"
    BOUND = "bound"
    STARS = "stars"
    IMPORTS = "imports"
    ITEMS = "items"
    FILLS = "fills"
    CALLING = "calling"
    OWNERS = "owners"
    NAMES_IN = "names in"
    CODE = "code"
    DEFAULT = "default"
    DOCSTRING = "docstring"
    FILLED = "filled"
    DEFINING = "defining"
    SWAPS = "swaps"
    HAVING = "having"
    REBOUND = "rebound"


ALL_RUN = frozenset({Question.FILLED, Question.DEFINING, Question.SWAPS})  # about all files that an import of one runs
# Not about the text of one file, so that its bytes do not answer them.
COARSE = frozenset({Question.BYTES, Question.RESOLVE, Question.SUBMODULE}) | ALL_RUN


class Claim(NamedTuple):
    """A question about the file at a path; `detail` says what of it."""

    path: str
    question: Question
    detail: str = ""


class Text(NamedTuple):
    """What was read at a path: the source, and a digest of the bytes."""

    source: str
    digest: str


class Asked:
    """
    The questions of the current analysis.

    What one analysis computes and the next ones of the process reuse carries the questions that it took.
    """

    def __init__(self) -> None:
        self._open: list[set[Claim]] = [set()]
        self._of: dict[Hashable, set[Claim]] = {}

    def start(self) -> None:
        """Forget the questions of the analysis before."""
        self._open = [set()]

    def claims(self) -> frozenset[Claim]:
        """Return the questions of the current analysis so far."""
        return frozenset(self._open[0])

    def add(self, path: str, question: Question, detail: str = "") -> None:
        """Record a question."""
        self._open[-1].add(Claim(path, question, detail))

    @contextmanager
    def computing(self, result: Hashable) -> Iterator[None]:
        """Record the questions inside of the block as those that a shared result took."""
        self._open.append(set())
        try:
            yield
        finally:
            self._of[result] = found = self._open.pop()
            self._open[-1] |= found

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Do not record the questions inside of the block: one that is recorded stands for them."""
        self._open.append(set())
        try:
            yield
        finally:
            self._open.pop()

    def reuse(self, result: Hashable) -> None:
        """Record what a shared result took, again."""
        self._open[-1] |= self._of.get(result, set())

    def reuse_all(self, results: Iterable[Hashable], leads_to: Callable[[Any], Iterable[Hashable]]) -> None:
        """Record what shared results took, and those that they lead to."""
        waiting, seen = list(results), set[Hashable]()
        while waiting:
            result = waiting.pop()
            if result not in seen:
                seen.add(result)
                self.reuse(result)
                waiting.extend(leads_to(result))

    def lighten(self) -> None:
        """Forget what shared results took, when these are dropped."""
        self._of.clear()


def digest(text: str | bytes) -> str:
    """Return a short digest of an answer."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def reader(texts: Mapping[str, str]) -> Callable[[str], Text | None]:
    """Return a function that reads from these texts alone."""

    def read(path: str) -> Text | None:
        source = texts.get(path)
        return None if source is None else Text(source, digest(source))

    return read
