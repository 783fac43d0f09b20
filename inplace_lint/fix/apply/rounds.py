"""
Applies fixes in rounds, in memory.

A round applies fixes that share no line, and analyzes the whole project with the new text. A fix is rejected if its
finding remains, or if a new error or warning appears with it. A fix that shared a line with another one is tried in the
next round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.core.errors import UnreadableError
from inplace_lint.core.finding import Edit, Finding, Severity
from inplace_lint.driver.session import Outcome
from inplace_lint.fix.apply import notebook
from inplace_lint.fix.texts import Moved, applied, moved
from inplace_lint.rules.text import UNUSED_SUPPRESSION
from inplace_lint.workspace import files
from inplace_lint.workspace.notebook import SUFFIX, file_of

_MOST_ROUNDS = 30
Analyze = Callable[[Mapping[str, bytes]], Outcome]
Name = tuple[str, str, str, str, str]


class Refused(Struct, frozen=True):
    """A fix that was rejected, and why."""

    finding: Finding
    reason: str


class Rounds(Struct):
    """
    The state of all rounds: `before` is the outcome of the analysis of the texts so far.

    `read` is the original content of the files, `texts` the new content of those that changed. `fixed` are the findings
    whose fixes were applied, in order, at the places they had at that time. A finding that was hidden at first, by a
    baseline or because its lines did not change, stays hidden wherever it moves, and one that was reported stays so.
    """

    analyze: Analyze
    unsafe: bool
    before: Outcome
    read: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, bytes] = field(default_factory=dict)
    fixed: list[Finding] = field(default_factory=list)
    refused: dict[Name, Refused] = field(default_factory=dict)

    def run(self) -> None:
        """Apply fixes until a round changes nothing."""
        self.read = dict(self.before.requested)
        since = 0  # how many fixes were applied when the rejected ones were last tried
        for _ in range(_MOST_ROUNDS):
            batch = list(self._batch())
            if not batch and self.refused and since < len(self.fixed):
                since = len(self.fixed)
                self.refused.clear()  # the reason to reject them may be gone
                batch = list(self._batch())
            if not batch:
                return
            kept = self._sift([], batch)
            if kept:
                self.texts = {**self.texts, **self._texts(kept)}
                self.fixed.extend(kept)
                self.before = _settled(self.before, self.analyze(self.texts), kept)

    def _batch(self) -> Iterator[Finding]:
        """Yield findings in order whose fixes share no line with one before; only files that the user named change."""
        taken: set[tuple[str, int]] = set()
        for finding in self.before.findings:
            fix = finding.fix
            if fix is None or not fix.applies(unsafe=self.unsafe) or name_of(finding) in self.refused:
                continue
            if any(file_of(edit.span) not in self.read for edit in fix.edits):
                continue
            lines = {(edit.span.path, line) for edit in fix.edits for line in _lines(edit)}
            if not lines & taken:
                taken |= lines
                yield finding

    def _sift(self, kept: list[Finding], batch: list[Finding]) -> list[Finding]:
        """Return the kept findings and those of a batch whose fixes work with theirs; record why others do not."""
        if not batch:
            return kept
        blamed = self._blamed([*kept, *batch])
        if not blamed:
            return [*kept, *batch]
        if len(batch) == 1:
            (finding,) = batch
            reason = blamed.get(finding) or next(iter(blamed.values()))
            self.refused[name_of(finding)] = Refused(finding, reason)
            return kept
        good = [finding for finding in batch if finding not in blamed]
        bad = [finding for finding in batch if finding in blamed]
        if not good or not bad:
            good, bad = batch[: len(batch) // 2], batch[len(batch) // 2 :]
        return self._sift(self._sift(kept, good), bad)

    def _blamed(self, batch: Sequence[Finding]) -> dict[Finding, str]:
        """Return the findings of a batch whose fixes must be rejected, with the reasons."""
        try:
            texts = self._texts(batch)
        except UnreadableError as error:
            return dict.fromkeys(batch, str(error))
        return _judged(self.before, self.analyze({**self.texts, **texts}), batch)

    def _texts(self, batch: Sequence[Finding]) -> dict[str, bytes]:
        """Return the new content of the files that fixes change."""
        edits = _by_path(batch)
        changed: dict[str, bytes] = {}
        for path in dict.fromkeys(file_of(edit.span) for found in edits.values() for edit in found):
            data = self.texts.get(path, self.read[path])
            if path.endswith(SUFFIX):
                mine = {
                    edit.span.cell: found for found in edits.values() for edit in found if file_of(edit.span) == path
                }
                codes = notebook.sources(data)
                new = {cell: applied(codes[cell], found) for cell, found in mine.items() if cell is not None}
                changed[path] = notebook.replaced(data, new)
            else:
                changed[path] = files.encode(applied(files.decode(data), edits[path]), data)
        return changed


def _by_path(batch: Sequence[Finding]) -> dict[str, list[Edit]]:
    edits: dict[str, dict[Edit, None]] = {}
    for finding in batch:
        for edit in finding.fix.edits if finding.fix is not None else ():
            edits.setdefault(edit.span.path, {})[edit] = None
    return {path: list(found) for path, found in edits.items()}


def _lines(edit: Edit) -> range:
    return range(edit.span.line, edit.span.end_line + 1)


def name_of(finding: Finding) -> Name:
    """Return a key of a finding that stays the same when lines move."""
    return finding.code, file_of(finding.span), finding.function, finding.symbol, finding.message


def _judged(before: Outcome, after: Outcome, batch: Sequence[Finding]) -> dict[Finding, str]:
    moves = _moves(batch)
    blamed: dict[Finding, str] = {}
    for finding, old in _origins(before, after, moves):
        stays = [one for one in old if one in batch]
        if stays:
            blamed.update(dict.fromkeys(stays, "the finding remains"))
        elif not old and _counts(finding) and not _was_behind(finding, batch, moves.get(finding.span.path)):
            reason = f"it would cause {finding.code} in line {finding.span.line}: {finding.message}"
            blamed.update((one, reason) for one in _near(finding, batch) if one not in blamed)
    for line in set(after.failures) - set(before.failures):
        blamed.update((one, line) for one in batch if one not in blamed)
    return blamed


def _settled(before: Outcome, after: Outcome, batch: Sequence[Finding]) -> Outcome:
    """Return the outcome after a round: a finding from before it is reported or hidden as it was."""
    hidden: dict[Finding, bool] = {}
    told: list[Finding] = []
    for finding, old in _origins(before, after, _moves(batch)):
        why = [before.hidden[one] for one in old if one in before.hidden]
        if old and len(why) == len(old):
            hidden[finding] = why[0]
        elif not old and finding in after.hidden:
            hidden[finding] = after.hidden[finding]
        else:
            told.append(finding)
    return replace(after, findings=tuple(sorted(told, key=lambda one: (one.span, one.code))), hidden=hidden)


def _moves(batch: Sequence[Finding]) -> dict[str, Moved]:
    return {path: moved(edits) for path, edits in _by_path(batch).items()}


def _origins(before: Outcome, after: Outcome, moves: Mapping[str, Moved]) -> Iterator[tuple[Finding, list[Finding]]]:
    """Yield each finding after a round, reported or hidden, with the findings before it that it may be."""
    known: dict[tuple[str, str], list[Finding]] = {}
    for finding in (*before.findings, *before.hidden):
        known.setdefault((finding.code, finding.span.path), []).append(finding)
    for finding in (*after.findings, *after.hidden):
        yield finding, _old(finding, known.get((finding.code, finding.span.path), ()), moves.get(finding.span.path))


def _counts(finding: Finding) -> bool:
    return finding.severity is not Severity.INFO and finding.code != UNUSED_SUPPRESSION.code


def _old(finding: Finding, known: Sequence[Finding], moves: Moved | None) -> list[Finding]:
    """Return the findings of the same rule that this one may have been; none if it is new or more severe."""
    place = (finding.span.line, finding.span.column)
    origin = place if moves is None else moves.origin(place)
    return [one for one in known if one.severity.rank <= finding.severity.rank and _is_at(one, origin, moves)]


def _is_at(finding: Finding, origin: tuple[int, int] | int, moves: Moved | None) -> bool:
    place = (finding.span.line, finding.span.column)
    if isinstance(origin, int):
        return moves is not None and moves.covers(origin, place)
    return place == origin


def _was_behind(finding: Finding, batch: Sequence[Finding], moves: Moved | None) -> bool:
    """
    Check whether a finding existed before a round without being reported: of several faults of a tensor the first is.

    A finding in text that a fix inserted did not exist.
    """
    place = (finding.span.line, finding.span.column)
    if moves is not None and isinstance(moves.origin(place), int):
        return False
    return any(
        one.code == finding.code and one.function == finding.function and file_of(one.span) == file_of(finding.span)
        for one in batch
    )


def _near(finding: Finding, batch: Sequence[Finding]) -> Sequence[Finding]:
    """Return the findings whose fixes may have caused a new one: those in its function, or its file, or all."""
    file = file_of(finding.span)
    mine = [one for one in batch if file_of(one.span) == file and one.function == finding.function]
    return mine or [one for one in batch if file_of(one.span) == file] or batch
