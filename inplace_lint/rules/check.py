"""
Checks one file: outline, roots, events, rules, findings.

Of all that is said of one place by one rule the surest is kept: the highest severity, then the fewest assumptions. What
else was saved there becomes related places of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from inplace_lint.event import Event, Stale, Touch, Untracked
from inplace_lint.finding import Certainty, Finding, Fix, Related, Role, Severity
from inplace_lint.interp import reach, roots
from inplace_lint.interp.holding import Holding
from inplace_lint.interp.program import Program
from inplace_lint.interp.project import Module, Project, alone
from inplace_lint.knowledge import facts
from inplace_lint.lower.lines import split_lines
from inplace_lint.lower.lower import lower
from inplace_lint.lower.positions import Located
from inplace_lint.outline.depth import depth_exceeds
from inplace_lint.outline.outline import Outline, mentions, outline, outline_of
from inplace_lint.room import with_room
from inplace_lint.rules import RULES
from inplace_lint.rules.advice import cure
from inplace_lint.rules.case import Case, Mender, partner, watched
from inplace_lint.rules.draft import Draft, Mark, Rule
from inplace_lint.span import Place, Slice, Span

_MOST_RELATED = 3
_LOST = "IPL305"


@dataclass(frozen=True, slots=True)
class Options:
    """What a user can say about the code under analysis as a whole: for which `versions` of frameworks it is meant."""

    versions: tuple[tuple[str, str], ...] = ()

    def version(self, framework: str) -> str | None:
        """Give the version of a framework that the code is meant for; None for the newest that is known."""
        return dict(self.versions).get(framework)


@dataclass(frozen=True, slots=True)
class FileResult:
    """
    What was found in one file, and what it took.

    `statements` gives, for the span of each finding, the first and last line on which a comment can suppress it.
    """

    findings: tuple[Finding, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    statements: Mapping[Span, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Said:
    """One rule's word about one event, with how often it happened."""

    rule: Rule
    draft: Draft
    severity: Severity
    certainty: Certainty
    event: Event


_LOADED: dict[tuple[str, str | None], facts.Facts] = {}


def facts_for(name: str, version: str | None) -> facts.Facts:
    """Give the tables of a framework, read once a process."""
    key = (name, version)
    if key not in _LOADED:
        _LOADED[key] = facts.load(name, version)
    return _LOADED[key]


def packages() -> tuple[str, ...]:
    """Name the packages whose mention makes a file worth checking."""
    return tuple(package for name in facts.frameworks() for package in facts_for(name, None).framework.packages)


def check_file(
    path: str, source: str, options: Options, project: Project | None = None, mender: Mender | None = None
) -> FileResult:
    """
    Give all findings of the roots of a file, unsuppressed; some may stand in files of `project` that they lead to.

    `mender` is asked for the fix of each; for it, what has a finding is run a second time.

    Raises: SyntaxError when neither `ast` nor LibCST reads the file.
    """
    clock = Clock()
    known = {name: facts_for(name, options.version(name)) for name in facts.frameworks()}
    read = project.modules.get(path) if project is not None else None
    if read is not None and read.source == source:
        outlined = read.outline._replace(mentions=mentions(source, packages()))
    else:
        read, outlined = None, _outline(path, source, packages())
    clock.lap("outline")
    used = _frameworks(outlined, known)
    if not used:
        return FileResult(seconds=clock.seconds)
    project = project or alone()
    main = read or Module(path, source, outlined)
    program = Program(main, used, project)
    before = project.lower_seconds()
    found = with_room(lambda: roots.run_all(program))
    clock.lap("interpret")
    clock.move("interpret", "lower", project.lower_seconds() - before)
    said = [word for entry in found for word in _say(entry)]
    chosen = _chosen(said)
    resolver = Resolver(program)
    if mender is not None and chosen:
        resolver.mender, again = mender, Program(main, used, project)
        resolver.holdings = watched(again, [entry.said.draft for entry in chosen])
    findings, statements = resolver.findings(chosen)
    clock.lap("judge")
    return FileResult(findings, _counters(program), clock.seconds, statements)


class Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Book the time since the last lap."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now

    def move(self, source: str, target: str, seconds: float) -> None:
        """Book part of a stage as another stage."""
        self.seconds[source] -= seconds
        self.seconds[target] = self.seconds.get(target, 0.0) + seconds


def _outline(path: str, source: str, names: tuple[str, ...]) -> Outline:
    try:
        return outline(path, source, names)
    except SyntaxError as error:
        # What is nested too deeply for `ast` would crash LibCST, and the process with it.
        if error.__cause__ is not None or depth_exceeds(source) is not None:
            raise
        # `ast` of this Python may be older than the syntax of the file; LibCST raises if it is wrong indeed.
        code = lower(source, Slice(path, 1, len(split_lines(source))))
        return outline_of(path, source, code, names)


def _frameworks(outlined: Outline, known: Mapping[str, facts.Facts]) -> dict[str, facts.Facts]:
    mentioned = [
        name
        for name, entry in known.items()
        if any(package in outlined.mentions for package in entry.framework.packages)
    ]
    first = [name for name in mentioned if _imported_first(outlined, known[name])]
    return {name: known[name] for name in sorted(mentioned, key=lambda name: name not in first)}


def _imported_first(outlined: Outline, entry: facts.Facts) -> bool:
    for node in outlined.imports:
        top = node.module.partition(".")[0]
        if top in entry.framework.packages:
            return True
    return False


def _say(found: roots.Found) -> Iterable[Said]:
    for rule in RULES:
        draft = rule.judge(found.event)
        if draft is not None:
            sure = not draft.assumptions
            certainty = (
                Certainty.UNKNOWN if not sure else Certainty.ALWAYS if found.paths == found.of else Certainty.SOMETIMES
            )
            severity = draft.worst if sure else Severity.WARNING
            yield Said(rule, draft, severity, certainty, found.event)


def _rank(said: Said) -> tuple[int, int, int]:
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    certainties = [Certainty.ALWAYS, Certainty.SOMETIMES, Certainty.UNKNOWN]
    return order.index(said.severity), len(said.draft.assumptions), certainties.index(said.certainty)


class Chosen(NamedTuple):
    """The word that is kept of a place, its marks, how many saves they leave out, and all that was saved."""

    said: Said
    marks: tuple[Mark, ...]
    more: int
    saves: frozenset[Touch]


def _chosen(said: Iterable[Said]) -> list[Chosen]:
    """Give one word a rule and place, with the marks of the others that are as sure."""
    groups: dict[tuple[str, Place], list[Said]] = {}
    for word in said:
        groups.setdefault((word.rule.code, word.draft.place), []).append(word)
    chosen: list[Chosen] = []
    raises = {place for (_, place), words in groups.items() if any(word.severity is Severity.ERROR for word in words)}
    for (code, place), words in groups.items():
        if place in raises and code == _LOST:
            continue  # backward raises: there is no gradient that could be wrong
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
        chosen.append(Chosen(best, tuple(marks), more, frozenset(touches)))
    return chosen


class Resolver:
    """Computes positions, for the slices that findings name only."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.located: dict[Slice, Located] = {}
        self.mender: Mender | None = None
        self.holdings: Mapping[Place, AbstractSet[Holding]] = {}

    def findings(self, chosen: list[Chosen]) -> tuple[tuple[Finding, ...], dict[Span, tuple[int, int]]]:
        """Give the findings in source order, and the lines on which each can be suppressed."""
        statements: dict[Span, tuple[int, int]] = {}
        findings: list[Finding] = []
        for entry in chosen:
            finding = self._finding(entry)
            findings.append(finding)
            place = entry.said.draft.place
            statements[finding.span] = self._locate(place.slice).statement(place.at)
        return tuple(sorted(findings, key=lambda finding: (finding.span, finding.code))), statements

    def _locate(self, slice_: Slice) -> Located:
        known = self.located.get(slice_)
        if known is None:
            module = self.program.module(slice_.path)
            known = self.located[slice_] = Located(module.source, slice_, module.holes(slice_))
        return known

    def _owner(self, slice_: Slice) -> str:
        """Name the function or class that a slice is; empty for a statement of a module."""
        for item in self.program.module(slice_.path).outline.items:
            for inner in (item, *item.methods):
                if inner.slice == slice_:
                    return inner.qualname
        return ""

    def _span(self, place: Place) -> Span:
        return self._locate(place.slice).span(place.at)

    def _finding(self, entry: Chosen) -> Finding:
        said, marks, more, _ = entry
        draft, rule = said.draft, said.rule
        span = self._span(draft.place)
        facts_ = self.program.default()
        says = facts_.framework.says.get(draft.says, "")
        fix = self._fix(entry, span)
        return Finding(
            code=rule.code,
            name=rule.name,
            severity=said.severity,
            certainty=said.certainty,
            message=draft.message,
            span=span,
            label=draft.label,
            related=tuple(Related(mark.role, self._span(mark.place), mark.message) for mark in marks),
            more=more,
            symbol=draft.write.symbol,
            op=draft.write.op,
            function=self._owner(draft.place.slice),
            framework=facts_.framework.name,
            assumptions=tuple(sorted(draft.assumptions)),
            help=fix.message if fix is not None else self._help(draft, span),
            says=says.replace("{producer}", _node_name(draft.producer)),
            fix=fix,
        )

    def _help(self, draft: Draft, span: Span) -> str:
        has_partner = bool(partner(self.program.default(), draft.write.op))
        text = cure(draft, self.program.module(span.path).source, span, has_partner)
        return text.replace("{no_grad}", self.program.default().framework.says.get("no_grad", ""))

    def _fix(self, entry: Chosen, span: Span) -> Fix | None:
        if self.mender is None:
            return None
        said = entry.said
        case = Case(said.event, said.draft, span, entry.saves, self.holdings, self.program, self._locate)
        return self.mender(case)


def _node_name(op: str) -> str:
    """Spell the node of an op as the framework's messages do."""
    name = op.rpartition(".")[2].strip("_")
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or "the op"


def _counters(program: Program) -> dict[str, int]:
    counters = dict(program.budget.counters)
    writers = reach.writers(program.outline)
    returned = program.budget.returned
    counters["functions_that_write"] = len(writers)
    counters["functions_reached_uncut"] = sum(reach.key(item) in returned for item in writers)
    return counters
