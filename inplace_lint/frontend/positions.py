"""Computes positions, only for the slices that a finding names: they are parsed again with LibCST."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Slice, Span
from inplace_lint.frontend.from_cst.parse import parse, statements
from inplace_lint.frontend.lower import lower_statements
from inplace_lint.frontend.numbering import Numbering
from inplace_lint.frontend.slices import cut

_COMPOUND = (
    cst.If,
    cst.For,
    cst.While,
    cst.With,
    cst.Try,
    cst.TryStar,
    cst.FunctionDef,
    cst.ClassDef,
    cst.Match,
    cst.MatchCase,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.Else,
    cst.Finally,
)


class Located:
    """
    A slice parsed with LibCST, with positions; `holes` are the slices inside it that are left out of the IR.

    `origins` has the LibCST node of each ordinal.
    """

    def __init__(self, source: str, slice_: Slice, holes: Sequence[Slice]) -> None:
        cutout = cut(source, slice_, holes)
        module = parse(cutout, slice_)
        numbering = Numbering(slice_, origins=[])
        lower_statements(numbering, cutout, statements(module))
        self.slice, self.cutout = slice_, cutout
        self.module = module
        self.origins: list[cst.CSTNode] = list(_origins(numbering.origins or ()))
        self.ranges: Mapping[cst.CSTNode, CodeRange] = MetadataWrapper(module, unsafe_skip_copy=True).resolve(
            PositionProvider
        )
        self.lines = split_lines(source)
        self.shifts = _shifts(cutout.text, module) if "\f" in cutout.text else {}

    def span(self, at: int) -> Span:
        """
        Return the span of the node numbered `at`.

        Units: columns in code points of the original line.
        """
        return self.span_of(self.origins[at])

    def span_of(self, node: cst.CSTNode) -> Span:
        """Return the span of a node of the slice, without parentheses around it."""
        found = self.ranges[node]
        start, end = (found.start.line, found.start.column), (found.end.line, found.end.column)
        return self.stretch(start, end)

    def stretch(self, start: tuple[int, int], end: tuple[int, int]) -> Span:
        """Return the span between two places of the cutout, each a line from 1 and a column from 0."""
        line, end_line = self._line(start[0]), self._line(end[0])
        column, end_column = start[1] + self.shifts.get(start[0], 0), end[1] + self.shifts.get(end[0], 0)
        return Span(self.slice.path, line, column, end_line, end_column)

    def _line(self, line: int) -> int:
        return line + self.cutout.offset

    def statement(self, at: int) -> tuple[int, int]:
        """Return the first and last line of the smallest simple statement or compound header that contains a node."""
        found = self.ranges[self.origins[at]]
        best = (self._line(found.start.line), self._line(found.end.line))
        waiting: list[cst.CSTNode] = [self.module]
        while waiting:
            inner = waiting.pop()
            around = self.ranges.get(inner)
            if around is None or not _holds(around, found):
                continue
            if isinstance(inner, cst.SimpleStatementLine | cst.SimpleStatementSuite):
                return self._line(around.start.line), self._line(around.end.line)
            if isinstance(inner, _COMPOUND):
                best = self._header(inner, around)
            waiting = list(inner.children)
        return best

    def _header(self, node: cst.CSTNode, around: CodeRange) -> tuple[int, int]:
        body = getattr(node, "body", None)
        inner = self.ranges.get(body) if isinstance(body, cst.CSTNode) else None
        last = inner.start.line if inner is not None else around.start.line
        if isinstance(body, cst.IndentedBlock) and inner is not None:
            last = max(around.start.line, inner.start.line - 1)
        return self._line(around.start.line), self._line(last)


def _origins(numbered: Sequence[object]) -> Iterator[cst.CSTNode]:
    """Yield the LibCST node of each numbered node; an annotation that is a text has the place of its parameter."""
    origin: cst.CSTNode | None = None
    for node in numbered:
        origin = getattr(node, "origin", origin)
        assert origin is not None
        yield origin


def _holds(outer: CodeRange, inner: CodeRange) -> bool:
    start = (outer.start.line, outer.start.column) <= (inner.start.line, inner.start.column)
    return start and (inner.end.line, inner.end.column) <= (outer.end.line, outer.end.column)


def _shifts(text: str, module: cst.Module) -> dict[int, int]:
    """Return by line how many columns LibCST does not count: it drops form feeds before a statement."""
    pairs = enumerate(zip(split_lines(text), split_lines(module.code), strict=False), 1)
    return {number: len(line) - len(kept) for number, (line, kept) in pairs if line.startswith("\f")}
