"""
From events to findings: the words of the rules, the surest for each place, and their positions.

Of all that is said of one place by one rule the surest is kept: the highest severity, then the fewest assumptions. What
else was saved there becomes related places of it. Where an event came from, the interpreter or a run, `Spans` knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from inplace_lint.core.event import Event, Stale, Touch, Untracked
from inplace_lint.core.finding import Certainty, Finding, Fix, Related, Role, Severity
from inplace_lint.core.span import Place, Span
from inplace_lint.knowledge.facts import Framework
from inplace_lint.rules import RULES
from inplace_lint.rules.draft import Draft, Mark, Rule

_MOST_RELATED = 3
_LOST = "IPL305"
_OVERLAPPING, _COMPILED = "IPL206", "IPL403"


class Spans(Protocol):
    """What knows where places are: slices that are parsed again, or positions that a run has told."""

    def span(self, place: Place) -> Span:
        """Give the position of a place."""

    def statement(self, place: Place) -> tuple[int, int]:
        """Give the lines of the statement that holds a place."""

    def owner(self, place: Place) -> str:
        """Name the function or class that holds a place; empty for a statement of a module."""

    def help(self, draft: Draft, span: Span) -> str:
        """Give the cure in one line; empty when nothing simple is right."""

    def fix(self, entry: Chosen, span: Span) -> Fix | None:
        """Give the edits that mend a finding, where somebody makes any."""


@dataclass(frozen=True, slots=True)
class Said:
    """One rule's word about one event, with how often it happened."""

    rule: Rule
    draft: Draft
    severity: Severity
    certainty: Certainty
    event: Event


class Chosen(NamedTuple):
    """The word that is kept of a place, its marks, how many saves they leave out, and all that was saved."""

    said: Said
    marks: tuple[Mark, ...]
    more: int
    saves: frozenset[Touch]


def say(event: Event, *, always: bool) -> Iterator[Said]:
    """Give what the rules say of an event that happened on every path, or on one."""
    for rule in RULES:
        draft = rule.judge(event)
        if draft is not None:
            sure = not draft.assumptions
            certainty = Certainty.UNKNOWN if not sure else Certainty.ALWAYS if always else Certainty.SOMETIMES
            severity = draft.worst if sure or draft.worst is Severity.INFO else Severity.WARNING
            yield Said(rule, draft, severity, certainty, event)


def _rank(said: Said) -> tuple[int, int, int]:
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    certainties = [Certainty.ALWAYS, Certainty.SOMETIMES, Certainty.UNKNOWN]
    return order.index(said.severity), len(said.draft.assumptions), certainties.index(said.certainty)


def chosen(said: Iterable[Said]) -> list[Chosen]:
    """Give one word a rule and place, with the marks of the others that are as sure."""
    groups: dict[tuple[str, Place], list[Said]] = {}
    for word in said:
        groups.setdefault((word.rule.code, word.draft.place), []).append(word)
    kept: list[Chosen] = []
    raises = {place for (_, place), words in groups.items() if any(word.severity is Severity.ERROR for word in words)}
    for (code, place), words in groups.items():
        if place in raises and code == _LOST:
            continue  # backward raises: there is no gradient that could be wrong
        if code == _OVERLAPPING and (_COMPILED, place) in groups:
            continue  # what runs compiled is not refused, although it is where it was run as it stands
        best = min(words, key=_rank)
        marks = list(best.draft.related)
        saves = [mark for mark in marks if mark.role is Role.SAVE]
        more = 0
        for word in words:
            for mark in word.draft.related:
                if (
                    word.severity is best.severity
                    and mark.role is Role.SAVE
                    and mark.place not in {m.place for m in saves}
                ):
                    saves.append(mark)
                    if len(saves) <= _MOST_RELATED:
                        marks.append(mark)
                    else:
                        more += 1
        touches = (word.event.save for word in words if isinstance(word.event, Stale | Untracked))
        kept.append(Chosen(best, tuple(marks), more, frozenset(touches)))
    return kept


def findings_of(
    words: Iterable[Chosen], spans: Spans, framework: Framework
) -> tuple[tuple[Finding, ...], dict[Span, tuple[int, int]]]:
    """Give the findings in source order, and the lines on which each can be suppressed."""
    statements: dict[Span, tuple[int, int]] = {}
    findings: list[Finding] = []
    for entry in words:
        finding = _finding(entry, spans, framework)
        findings.append(finding)
        statements[finding.span] = spans.statement(entry.said.draft.place)
    return tuple(sorted(findings, key=lambda finding: (finding.span, finding.code))), statements


def _finding(entry: Chosen, spans: Spans, framework: Framework) -> Finding:
    said, draft, rule = entry.said, entry.said.draft, entry.said.rule
    span = spans.span(draft.place)
    fix = spans.fix(entry, span)
    cure = fix.message if fix is not None else spans.help(draft, span)
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=said.severity,
        certainty=said.certainty,
        message=draft.message,
        span=span,
        label=draft.label,
        related=tuple(Related(mark.role, spans.span(mark.place), mark.message) for mark in entry.marks),
        more=entry.more,
        symbol=draft.write.symbol,
        op=draft.write.op,
        function=spans.owner(draft.place),
        framework=framework.name,
        assumptions=tuple(sorted(draft.assumptions)),
        help=cure.replace("{no_grad}", framework.says.get("no_grad", "")),
        fix=fix if fix is not None and fix.edits else None,
        says=framework.says.get(draft.says, "").replace("{producer}", _node_name(draft.producer)),
    )


def _node_name(op: str) -> str:
    """Spell the node of an op as the framework's messages do."""
    name = op.rpartition(".")[2].strip("_")
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or "the op"
