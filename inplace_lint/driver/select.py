"""
From events to findings: what the rules say of events, which of it is kept, and the positions of what is kept.

Of all drafts of one rule at one place the surest is kept: the highest severity, then the fewest assumptions. What the
others at that place saved becomes related places of it. The interpreter has a `Spans` of its own, and so has a run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from inplace_lint.core.assumption import only_training
from inplace_lint.core.event import Event, Stale, Touch, Untracked
from inplace_lint.core.finding import Asks, Certainty, Finding, Fix, Related, Role, Severity, doubt
from inplace_lint.core.span import Place, Span
from inplace_lint.knowledge.framework import Framework
from inplace_lint.rules import RULES
from inplace_lint.rules.draft import Draft, Mark, with_options
from inplace_lint.rules.rule import Rule

_MOST_SAVES = 3


class Spans(Protocol):
    """Positions of places: of slices that are parsed again, or as a run recorded them."""

    def span(self, place: Place) -> Span:
        """Return the position of a place."""

    def statement(self, place: Place) -> tuple[int, int]:
        """Return the first and last line of the statement around a place."""

    def owner(self, place: Place) -> str:
        """Return the name of the function or class around a place; empty for a statement of a module."""

    def help(self, draft: Draft, span: Span) -> str:
        """Return the cure in one line; empty when nothing simple is right."""

    def fix(self, entry: Chosen, span: Span) -> Fix | None:
        """Return the fix of a finding, where fixes are made."""


class Said(Struct, frozen=True):
    """
    A draft of one rule from one event, with its severity and certainty; `entry` as in `Finding`.

    `options` are those of the program that it depends on, `root` is the entry point that found it.
    """

    rule: Rule
    draft: Draft
    severity: Severity
    certainty: Certainty
    event: Event
    options: tuple[str, ...] = ()
    entry: Asks | None = None
    root: str = ""

    @property
    def doubt(self) -> tuple[bool, int, int, int, int]:
        """The key by which the surest of several drafts is the lowest; one without options goes before the others."""
        sure = doubt(self.severity, len(self.draft.assumptions), self.certainty)
        return not self.is_open, *sure, len(self.options)

    @property
    def is_open(self) -> bool:
        """Whether nothing of the project decides on it, or, of an error, only that it runs in evaluation."""
        return self.entry is None or (self.entry.computes and self.severity is Severity.ERROR)


class Chosen(NamedTuple):
    """
    The draft that is kept of a place, its marks, how many saves these leave out, and all that was saved.

    `hides`: the same write has another fault, of which nothing is said as long as backward raises. `roots` are the
    entry points that found it.
    """

    said: Said
    marks: tuple[Mark, ...]
    more: int
    saves: frozenset[Touch]
    hides: bool
    roots: frozenset[str]


def say(
    event: Event,
    *,
    always: bool,
    options: Sequence[str] = (),
    entry: Asks | None = None,
    root: str = "",
    rules: Iterable[Rule] = RULES,
) -> Iterator[Said]:
    """Yield what the rules say of an event that happened on every path, or on one, with some options."""
    for rule in rules:
        draft = rule.judge(event)
        if draft is not None:
            sure = not draft.assumptions
            certainty = Certainty.UNKNOWN if not sure else Certainty.ALWAYS if always else Certainty.SOMETIMES
            worst = _worst(rule, draft)
            severity = worst if sure or worst is Severity.INFO else Severity.WARNING
            yield Said(rule, with_options(draft, options), severity, certainty, event, tuple(options), entry, root)


def _worst(rule: Rule, draft: Draft) -> Severity:
    """Return the severity of what a rule says if it assumes nothing."""
    return draft.worst or rule.harm.severity


def chosen(said: Iterable[Said]) -> list[Chosen]:
    """
    Return one draft for each rule and place, with the saves of the others that are as severe.

    A second one is what may be an error, where the first is none: the project has to be asked about that.
    """
    groups: dict[tuple[str, Place], list[Said]] = {}
    for one in said:
        groups.setdefault((one.rule.code, one.draft.place), []).append(one)
    raises = {place for (_, place), group in groups.items() if any(one.severity is Severity.ERROR for one in group)}
    dropped = set(_dropped(groups, raises))
    hiding = {place for (_, place), group in groups.items() if place in raises and _is_hidden_fault(group[0])}
    kept = ((group, key[1] in hiding) for key, group in groups.items() if key not in dropped)
    return [_merged(one, hides=hides) for group, hides in kept for one in (group, _to_be_asked(group)) if one]


def _is_hidden_fault(said: Said) -> bool:
    """Check whether a draft tells of a fault, and not of an opinion, and yields to an error at the same place."""
    return said.rule.yields_to_errors and said.severity is not Severity.INFO


def _to_be_asked(group: Sequence[Said]) -> list[Said]:
    """Return the drafts that are errors if the project shows what they assume, where none of the others is one."""
    if any(one.is_open and one.severity is Severity.ERROR for one in group):
        return []
    entries = ((one, one.entry) for one in group if one.entry is not None)
    asked = [one for one, entry in entries if only_training(one.draft.assumptions, len(entry.given))]
    return asked if len(asked) < len(group) and not group[0].rule.unanimous else []


def _dropped(
    groups: Mapping[tuple[str, Place], Sequence[Said]], raises: Collection[Place]
) -> Iterator[tuple[str, Place]]:
    """Yield the rules and places at which the finding of another rule leaves nothing to say."""
    for (code, place), group in groups.items():
        rule = group[0].rule
        if (rule.yields_to_errors and place in raises) or (rule.yields_to, place) in groups:
            yield code, place
        if rule.supersedes:
            yield rule.supersedes, place


def _merged(group: Sequence[Said], *, hides: bool) -> Chosen:
    """Return the surest draft of a group with the saves of those that are as severe, of which only the first show."""
    pick = max if group[0].rule.unanimous else min
    best = pick(group, key=lambda one: one.doubt)
    own = best.draft.related
    saves = [mark.place for mark in own if mark.role is Role.SAVE]
    others: dict[Place, Mark] = {}
    for mark in (mark for one in group if one.severity is best.severity for mark in one.draft.related):
        if mark.role is Role.SAVE and mark.place not in saves:
            others.setdefault(mark.place, mark)
    shown = tuple(others.values())[: max(_MOST_SAVES - len(saves), 0)]
    touches = (one.event.save for one in group if isinstance(one.event, Stale | Untracked))
    roots = frozenset(one.root for one in group)
    return Chosen(best, (*own, *shown), len(others) - len(shown), frozenset(touches), hides, roots)


def findings_of(
    entries: Iterable[Chosen], spans: Spans, framework: Framework
) -> tuple[tuple[Finding, ...], dict[Span, tuple[int, int]]]:
    """Return the findings in source order, and the lines on which each can be suppressed."""
    statements: dict[Span, tuple[int, int]] = {}
    findings: list[Finding] = []
    for entry in entries:
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
        assumptions=tuple(sorted({str(sentence) for sentence in draft.assumptions})),
        options=said.options,
        help=cure.replace("{no_grad}", framework.says.get("no_grad", "")),
        fix=fix if fix is not None and fix.edits else None,
        entry=said.entry,
        gain=draft.gain,
        worst=_worst(rule, draft),
        says=framework.says.get(draft.says, "").replace(
            "{producer}", draft.write.producer.rpartition(".")[2] or "[...]"
        ),
    )
