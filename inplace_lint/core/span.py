"""
Where something is in source text.

A `Place` is cheap: the slice that a node was lowered from, and the node's ordinal in it. It is all that the interpreter
carries. A `Span` is what a user sees; it is computed from a place only for what a finding names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import astuple


class Slice(NamedTuple):
    """
    A run of whole lines of one file that is parsed alone: a top-level statement, a method, or a class without methods.

    Units: lines from 1, both ends included. `kind` is "statement" (the lines as they are) or "class" (a class whose
    methods are blanked, so that each can be a slice of its own).
    """

    path: str
    first: int
    last: int
    kind: str = "statement"


class Place(NamedTuple):
    """The node numbered `at` of a slice, counted in the order in which the lowering makes nodes."""

    slice: Slice
    at: int


class Span(Struct, frozen=True):
    """
    A range of source text.

    Units: lines from 1; columns in code points from 0; `end_column` is exclusive. `cell` is the notebook cell, from 1,
    where there is one.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None

    def __lt__(self, other: Span) -> bool:
        return astuple(self) < astuple(other)

    def cut(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that the span covers, cut at its ends; nothing where the file has no such lines."""
        covered = list(lines[self.line - 1 : self.end_line])
        if covered:
            covered[-1] = covered[-1][: self.end_column]
            covered[0] = covered[0][self.column :]
        return covered
