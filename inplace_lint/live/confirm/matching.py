"""
Whether a trace of a run reports the fault of a finding: the same write, and a rule for the same fault.

The write of a finding is at its primary place, or at a related place with the role `write` where the primary place is a
flag; the same holds for a trace. An interpreter before 3.11 records lines only, and the places are coarser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.finding import Finding, Role
from inplace_lint.core.span import Span
from inplace_lint.driver.select import chosen, findings_of, say
from inplace_lint.knowledge import facts
from inplace_lint.live import source as text
from inplace_lint.live.events import Reader
from inplace_lint.live.record import Access, Position, Record
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.rule import Harm, Rule, Variant

_MADE_BY_SHAPES = frozenset({"shape", "cast", "mixed"})
_CAUSES = {
    "stale": "raised in backward",
    "untracked": "backward used a value that was overwritten unnoticed",
    "recomputed": "backward ran the function again on a value that was overwritten",
    "refused": "refused at the write",
    "late": "refused when it was used later",
    "accepted": "carried out in compiled code",
    "overlapped": "an operand was read after it was overwritten",
}


_SILENT = {"untracked", "recomputed", "accepted", "overlapped"}


class Traced(Struct, frozen=True):
    """
    A finding that the rules make of one record of a trace, and how the fault showed.

    `saved` is where the program called what saved, while the finding names the line that constructed a layer.
    """

    finding: Finding
    cause: str
    is_silent: bool
    saved: Position | None


def traced(records: Sequence[Record], sources: Mapping[str, text.Source], *, made_up: bool) -> Iterator[Traced]:
    """
    Yield the findings that the rules make of each record; `sources` are the files before anything ran.

    A refusal because of shapes or dtypes is left out where these were made up.
    """
    for record in records:
        if record.write is None or (made_up and record.kind == "refused" and record.check in _MADE_BY_SHAPES):
            continue
        shown = {one.path: one for one in sources.values()}
        placed = replace(record, write=_placed(record.write), save=record.save and _placed(record.save))
        reader = Reader(facts.framework(record.framework), dict(sources), shown)
        words = [word for event in reader.events(placed) for word in say(event, always=True, rules=RULE_OF.values())]
        for finding in findings_of(chosen(words), reader, reader.framework)[0]:
            yield Traced(finding, _cause(record), record.kind in _SILENT, record.save.at if record.save else None)


def _cause(record: Record) -> str:
    return _CAUSES["late" if record.kind == "refused" and record.backward is not None else record.kind]


def _placed(access: Access) -> Access:
    """Return an access with a place: no line of the program calls a container that the tool itself called."""
    return replace(access, at=access.at or access.built or access.flag)


def is_same(finding: Finding, trace: Traced, others: Sequence[Finding]) -> bool:
    """
    Check whether a trace reports the fault of a finding.

    It has the same write, and a save in common. Two flags whose modules one call runs have that call in common: a flag
    in the trace that is of another finding is not of this one.
    """
    found = trace.finding
    if not _is_same_fault(RULE_OF[finding.code], RULE_OF[found.code]) or not _is_same_save(finding, trace):
        return False
    if _meet(finding.span, found.span):
        return True
    if any(_meet(other.span, found.span) for other in others if other is not finding):
        return False
    mine, seen = list(_writes(finding)), list(_writes(found))
    return any(_meet(one, other) for one in mine for other in seen)


def _is_same_fault(rule: Rule, other: Rule) -> bool:
    """Check whether a trace reports the fault of a rule under another one; where backward raises, it may be any."""
    both_late = rule.harm is other.harm is Harm.BACKWARD
    return both_late or other.code in {rule.code, rule.traced_as}


def _is_same_save(finding: Finding, trace: Traced) -> bool:
    """
    Check whether what was overwritten is saved in a line of both, as far as both know such lines.

    What a checkpointed function reads again may be read in several lines: a run names the first.
    """
    if Variant.DIRECT in RULE_OF[finding.code].variants:
        return True
    mine, seen = ([item.span for item in one.related if item.role is Role.SAVE] for one in (finding, trace.finding))
    if trace.saved is not None:
        at = trace.saved
        seen.append(Span(at.path, at.line, 0, at.end_line or at.line, 0))
    return not mine or not seen or any(_share_line(one, other) for one in mine for other in seen)


def _writes(finding: Finding) -> Iterator[Span]:
    yield finding.span
    yield from (item.span for item in finding.related if item.role is Role.WRITE)


def _share_line(one: Span, other: Span) -> bool:
    is_one_file = Path(one.path).absolute() == Path(other.path).absolute()
    return is_one_file and one.line <= other.end_line and other.line <= one.end_line


def _meet(one: Span, other: Span) -> bool:
    """Check whether two places have a character in common."""
    if Path(one.path).absolute() != Path(other.path).absolute():
        return False
    start, end = (one.line, one.column), (one.end_line, one.end_column)
    return (other.line, other.column) < end and start < (other.end_line, other.end_column)
