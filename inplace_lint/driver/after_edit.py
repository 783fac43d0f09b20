"""
What an edit of a text leaves of what was found in it: for an editor, which shows findings while somebody types.

Only the entry points that the edit affects are run again (`effects/affected.py`). What others found in lines that are
the same is kept and moved; a run of the whole file follows once the user pauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.finding import Finding
from inplace_lint.core.source_lines import split_lines, unchanged
from inplace_lint.core.span import Span
from inplace_lint.driver.entry import Entry
from inplace_lint.effects.edited import Edited, Ran

Roots = Mapping[tuple[str, Span], frozenset[str]]

_NAMES_A_LINE = re.compile(r"\blines? \d")


class Earlier(Struct, frozen=True):
    """
    What was found in a text before it was edited, and what its entry points did.

    `roots` are the entry points that found a finding, by its rule and place.
    """

    source: str
    entry: Entry
    roots: Roots
    ran: Mapping[str, Ran]

    def after(self, path: str, source: str) -> Move | None:
        """Return how an edit of the file moves its lines; None where it may change what the file defines."""
        old, new = split_lines(self.source), split_lines(source)
        same, below = unchanged(old, new)
        changed = (*old[same : len(old) - below], *new[same : len(new) - below])
        if not self.ran or any(line[:1].strip() for line in changed):
            return None
        return Move(path, same, len(old) - below, len(new) - below)


class Move(Struct, frozen=True):
    """
    An edit of a file: the lines after `first`, up to the line `old`, became those up to the line `new`.

    Units: lines from 1.
    """

    path: str
    first: int
    old: int
    new: int

    def edited(self, ran: Mapping[str, Ran]) -> Edited:
        """Return the lines that the edit may have changed, with those around them, and what entry points did before."""
        return Edited(max(self.first, 1), self.new + 1, ran)

    def kept(self, earlier: Earlier, part: frozenset[str]) -> tuple[Entry, Roots]:
        """Return what other entry points than this `part` found, as far as its lines are the same."""
        findings: list[Finding] = []
        statements: dict[Span, tuple[int, int]] = {}
        roots: dict[tuple[str, Span], frozenset[str]] = {}
        for finding in earlier.entry.findings:
            by = earlier.roots.get((finding.code, finding.span), frozenset()) - part
            moved = self._finding(finding) if by else None
            lines = self._lines(*earlier.entry.statements.get(finding.span, (0, 0)))
            if moved is not None and lines is not None:
                findings.append(moved)
                statements[moved.span] = lines
                roots[moved.code, moved.span] = by
        return Entry(tuple(findings), {}, statements), roots

    def _finding(self, finding: Finding) -> Finding | None:
        """Return a finding at the place where it is now; None if something that it names changed."""
        edits = () if finding.fix is None else finding.fix.edits
        named = (finding.span, *(one.span for one in finding.related), *(edit.span for edit in edits))
        spans = {span: self._span(span) for span in named}
        known = {span: moved for span, moved in spans.items() if moved is not None}
        if len(known) < len(spans) or (self.old != self.new and any(map(_NAMES_A_LINE.search, _texts(finding)))):
            return None
        related = tuple(replace(one, span=known[one.span]) for one in finding.related)
        fix = finding.fix
        if fix is not None:
            fix = replace(fix, edits=tuple(replace(edit, span=known[edit.span]) for edit in edits))
        return replace(finding, span=known[finding.span], related=related, fix=fix)

    def _span(self, span: Span) -> Span | None:
        if span.path != self.path:
            return span
        lines = self._lines(span.line, span.end_line)
        return None if lines is None else replace(span, line=lines[0], end_line=lines[1])

    def _lines(self, first: int, last: int) -> tuple[int, int] | None:
        """Return where lines are now; None if one of them, or what is between them, changed."""
        if last <= self.first:
            return first, last
        by = self.new - self.old
        return (first + by, last + by) if first > self.old else None


def _texts(finding: Finding) -> Iterator[str]:
    yield from (finding.message, finding.label, finding.help, *(one.message for one in finding.related))
    if finding.fix is not None:
        yield finding.fix.message


def joined(entry: Entry, roots: Roots, kept: tuple[Entry, Roots]) -> tuple[Entry, Roots]:
    """Return what was found after an edit, and what is kept of before; the surest where that is at one place."""
    old, old_roots = kept
    found: dict[tuple[str, Span], Finding] = {}
    for one in sorted((*entry.findings, *old.findings), key=lambda one: one.doubt):
        found.setdefault((one.code, one.span), one)
    findings = tuple(sorted(found.values(), key=lambda one: (one.span, one.code)))
    both = {place: roots.get(place, frozenset()) | old_roots.get(place, frozenset()) for place in found}
    return Entry(findings, entry.counters, {**old.statements, **entry.statements}), both
