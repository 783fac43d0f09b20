"""
Whether what a run told is what a finding says: the same write, and the same family of rules.

A finding's write stands at its primary place, or at a related place of the role `write` where a flag is primary. A run
tells its writes in the same way; that an interpreter before 3.11 knows lines only makes the places coarser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from inplace_lint.core.finding import Finding, Role
from inplace_lint.core.span import Span
from inplace_lint.driver.select import chosen, findings_of, say
from inplace_lint.knowledge import facts
from inplace_lint.live import source as text
from inplace_lint.live.events import Reader
from inplace_lint.live.record import Access, Record
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.rule import Harm, Rule

_MADE_BY_SHAPES = frozenset({"shape", "cast", "mixed"})
_CAUSES = {
    "stale": "raised in backward",
    "untracked": "backward used a value that was overwritten unseen",
    "recomputed": "backward ran the function again on a value that was overwritten",
    "refused": "refused at the write",
    "accepted": "carried out in compiled code",
}


_SILENT = {"untracked", "recomputed", "accepted"}


@dataclass(frozen=True, slots=True)
class Told:
    """What one record says of a place, in the words of the static analysis, and how it showed."""

    finding: Finding
    cause: str
    is_silent: bool


def told_by(records: Sequence[Record], sources: Mapping[str, text.Source], *, made_up: bool) -> Iterator[Told]:
    """
    Give what the rules say of each record; `sources` are the files as they were before anything ran.

    A refusal for shapes or dtypes says nothing where these were made up.
    """
    for record in records:
        if record.write is None or (made_up and record.kind == "refused" and record.check in _MADE_BY_SHAPES):
            continue
        shown = {one.path: one for one in sources.values()}
        placed = replace(record, write=_placed(record.write), save=record.save and _placed(record.save))
        reader = Reader(facts.framework(record.framework), dict(sources), shown)
        words = [word for event in reader.events(placed) for word in say(event, always=True)]
        for finding in findings_of(chosen(words), reader, reader.framework)[0]:
            yield Told(finding, _cause(record), record.kind in _SILENT)


def _cause(record: Record) -> str:
    return _CAUSES["stale"] if record.check == "no_derivative" else _CAUSES[record.kind]


def _placed(access: Access) -> Access:
    """Give an access with a place: a container that we called ourselves is called by no line of the program."""
    return replace(access, at=access.at or access.built or access.flag)


def is_same(finding: Finding, told: Finding, others: Sequence[Finding]) -> bool:
    """
    Say whether a run told what a finding says.

    Two flags whose modules one call runs have that call in common: where the run's flag is another finding's, it is not
    this one's.
    """
    if not _is_same_fault(RULE_OF[finding.code], RULE_OF[told.code]):
        return False
    if _meet(finding.span, told.span):
        return True
    if any(_meet(other.span, told.span) for other in others if other is not finding):
        return False
    mine, seen = list(_writes(finding)), list(_writes(told))
    return any(_meet(one, other) for one in mine for other in seen)


def is_near(finding: Finding, told: Finding) -> bool:
    """Say whether a run told anything of a finding's write, under whatever rule."""
    return any(_meet(one, other) for one in _writes(finding) for other in _writes(told))


def _is_same_fault(rule: Rule, traced: Rule) -> bool:
    """Check whether a trace reports the fault of a rule under another one; of what backward refuses it is any rule."""
    both_late = rule.harm is traced.harm is Harm.BACKWARD
    return both_late or traced.code == (rule.traced_as or rule.code)


def _writes(finding: Finding) -> Iterator[Span]:
    yield finding.span
    yield from (item.span for item in finding.related if item.role is Role.WRITE)


def _meet(one: Span, other: Span) -> bool:
    """Say whether two places have a character in common."""
    if Path(one.path).absolute() != Path(other.path).absolute():
        return False
    start, end = (one.line, one.column), (one.end_line, one.end_column)
    return (other.line, other.column) < end and start < (other.end_line, other.end_column)
