"""
The analysis of one file: its outline, the entry points that are run, their events, and what the rules say of them.

How fixes are made is passed in: this module knows no form of one.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, field

from inplace_lint.core.finding import Finding, Fix
from inplace_lint.core.remembered import remembered
from inplace_lint.core.runtime_limits import call_deep
from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Place, Slice, Span
from inplace_lint.driver.after_edit import Roots
from inplace_lint.driver.select import Chosen, Said, chosen, findings_of, say
from inplace_lint.effects import schedule
from inplace_lint.effects.edited import SCRIPT, Edited, Part, Ran
from inplace_lint.effects.summary import Outline, all_run, mentions, outline, outline_of, writing_by_name
from inplace_lint.frontend.lower import lower
from inplace_lint.frontend.nesting_guard import nests_too_deeply
from inplace_lint.interp import entry_points
from inplace_lint.interp.assembly import TapeInterpreter
from inplace_lint.interp.checkers.alias_query import AliasQuery
from inplace_lint.interp.checkers.opportunities import Opportunities
from inplace_lint.interp.context import Context, Observer
from inplace_lint.interp.found import Found
from inplace_lint.knowledge import facts
from inplace_lint.knowledge.own import OwnFact, written
from inplace_lint.rules import RULES
from inplace_lint.rules.draft import NEW_TENSOR, Draft
from inplace_lint.rules.help import cure
from inplace_lint.rules.rule import Rule
from inplace_lint.workspace import call_graph
from inplace_lint.workspace.module import Module, stars_of
from inplace_lint.workspace.module_store import Project, alone

if TYPE_CHECKING:
    from inplace_lint.fix.context import Fixes, Locate, Rerun
    from inplace_lint.frontend.positions import Located


MakeFixes = Callable[[Context, "Rerun", Sequence[Draft], "Locate"], "Fixes"]


class Options(Struct, frozen=True):
    """
    What a user can say about the analyzed code as a whole: for which `versions` of frameworks it is meant.

    `opinions`: what is no fault is reported as well, as info. `advice`: all code is run, and not only what may write.
    `own` are the facts of the project itself, `rules` judge the events.
    """

    versions: tuple[tuple[str, str], ...] = ()
    opinions: bool = False
    advice: bool = False
    own: tuple[OwnFact, ...] = ()
    rules: tuple[Rule, ...] = RULES

    def version(self, framework: str) -> str | None:
        """Return the version of a framework that the code is meant for; None for the newest that is known."""
        return dict(self.versions).get(framework)


class FileResult(Struct, frozen=True):
    """
    What was found in one file, and what it took.

    `statements` has, for the span of each finding, the first and last line on which a comment can suppress it. `roots`
    are the entry points that found a finding, by its rule and place; `ran` is what each entry point did. `part` are
    those that were run after an edit; None for all.
    """

    findings: tuple[Finding, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    statements: Mapping[Span, tuple[int, int]] = field(default_factory=dict)
    roots: Roots = field(default_factory=dict)
    ran: Mapping[str, Ran] = field(default_factory=dict)
    part: Part | None = None


def packages() -> tuple[str, ...]:
    """Return the packages that a file must mention to be worth checking."""
    return tuple(package for name in facts.frameworks() for package in facts.framework(name).packages)


def check_file(
    path: str,
    source: str,
    options: Options,
    project: Project | None = None,
    make_fixes: MakeFixes | None = None,
    observer: Observer | None = None,
    edited: Edited | None = None,
) -> FileResult:
    """
    Return all findings of the entry points of a file, unsuppressed; some may be in other files of `project`.

    `make_fixes` is called where something was found, with the program, a function that runs it again, the drafts and
    a function that parses a slice; it returns the function that makes the fix of each finding.
    The `observer` is called before each statement that a path runs. Where the text was `edited`, only what that affects
    is run.

    Raises: SyntaxError when neither `ast` nor LibCST reads the file.
    """
    clock = Clock()
    known = {name: facts.tables(name, options.version(name), options.own) for name in facts.frameworks()}
    read, outlined = _read(path, source, project, options)
    clock.lap("outline")
    used, project = _frameworks(path, outlined, known, project), project or alone()
    if not used:
        return FileResult(seconds=clock.seconds)
    main = read or Module(path, source, outlined)
    context = Context(main, used, project, observer=observer, edited=edited)
    before = project.lowering.seconds
    found = _run(context, options)
    clock.lap("interpret")
    clock.move("interpret", "lower", project.lowering.seconds - before)
    entries, resolver = chosen(_said(found, options.rules)), Resolver(context)
    if make_fixes is not None and entries:
        asking, drafts = partial(_answer, context, options), [entry.said.draft for entry in entries]
        resolver.fixes = make_fixes(context, asking, drafts, resolver.locate)
    findings, statements = findings_of(entries, resolver, context.default().framework)
    roots = {(entry.said.rule.code, resolver.span(entry.said.draft.place)): entry.roots for entry in entries}
    clock.lap("judge")
    return FileResult(findings, _counters(context), clock.seconds, statements, roots, context.ran, context.part)


def _said(found: Iterable[Found], rules: Sequence[Rule]) -> Iterator[Said]:
    for one in found:
        yield from say(one.event, always=one.always, options=one.options, entry=one.entry, root=one.root, rules=rules)


def _run(context: Context, options: Options, query: AliasQuery | None = None) -> list[Found]:
    spared = Opportunities() if options.advice else None
    interp = TapeInterpreter(context, opinions=options.opinions, query=query, opportunities=spared)
    found = call_deep(lambda: entry_points.run_all(interp))
    return [*found, *(Found(event, 1, 1) for event in (spared.events() if spared is not None else ()))]


def _answer(ran: Context, options: Options, query: AliasQuery) -> None:
    """
    Run again what wrote at the places of a query, which then has its answers; `ran` are the runs before.

    The module's own statements are run, too: they say on what others are run. Where not all of the places are written
    again, since what was left out led there, everything is run.
    """
    writing = {name for name, places in ran.wrote.items() if name == SCRIPT or not places.isdisjoint(query.places)}
    part = ran.part or Part(frozenset(ran.ran), frozenset())
    _run(Context(ran.main, ran.facts, ran.project, part=part.narrowed(writing, ran.ran)), options, query)
    asked = query.places.intersection(itertools.chain(*ran.wrote.values()))
    if not asked <= query.written.keys():
        _run(Context(ran.main, ran.facts, ran.project, part=ran.part), options, query)


class Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to a stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now

    def move(self, source: str, target: str, seconds: float) -> None:
        """Move part of the time of a stage to another one."""
        self.seconds[source] -= seconds
        self.seconds[target] = self.seconds.get(target, 0.0) + seconds


def _read(path: str, source: str, project: Project | None, options: Options) -> tuple[Module | None, Outline]:
    """Return the file as the project has it, if it is to be run like this, and its outline."""
    read = project.modules.get(path) if project is not None else None
    if options.advice:
        return None, all_run(_outline(path, source, packages()))
    if options.own:
        return None, writing_by_name(_outline(path, source, packages()), written(options.own))
    if read is not None and read.source == source:
        return read, read.outline._replace(mentions=mentions(source, packages()))
    return None, _outline(path, source, packages())


def _outline(path: str, source: str, names: tuple[str, ...]) -> Outline:
    try:
        return outline(path, source, names)
    except SyntaxError as error:
        # What is nested too deeply for `ast` would crash LibCST, and the process with it.
        if error.__cause__ is not None or nests_too_deeply(source):
            raise
        # `ast` of this Python may be older than the syntax of the file; LibCST raises if it is wrong indeed.
        code = lower(source, Slice(path, 1, len(split_lines(source))))
        return outline_of(path, source, code, names)


def _through_stars(path: str, outlined: Outline, project: Project) -> frozenset[str]:
    """Return the packages that files mention of which a file imports all names."""
    found: set[str] = set()
    seen = {path}
    waiting = [(path, star) for star in stars_of(outlined)]
    while waiting:
        importer, star = waiting.pop()
        target = project.resolve(importer, star.module, star.level)
        module = project.module(target) if target is not None and target not in seen else None
        if target is not None and module is not None:
            seen.add(target)
            found.update(module.outline.mentions if module.mentions else ())
            waiting.extend((target, inner) for inner in module.stars)
    return frozenset(found)


def _through_bases(path: str, outlined: Outline, project: Project) -> frozenset[str]:
    """Return the packages that the files mention in which bases of the classes of a file are."""
    main = project.module(path)
    items = [] if main is None else [item for item in outlined.items if item.bases]
    bases = (base for item in items if main is not None for base in call_graph.bases_of(project, main, item))
    homes = (project.module(base.slice.path) for base in bases)
    return frozenset(name for home in homes if home is not None and home.mentions for name in home.outline.mentions)


def _frameworks(
    path: str, outlined: Outline, known: Mapping[str, facts.Facts], project: Project | None
) -> dict[str, facts.Facts]:
    """Return the facts of the frameworks that a file mentions or has from others, those that it imports first."""
    mentions = frozenset(outlined.mentions)
    if not mentions and project is not None:
        mentions = _through_stars(path, outlined, project) or _through_bases(path, outlined, project)
    mentioned = [name for name, entry in known.items() if not mentions.isdisjoint(entry.framework.packages)]
    first = [name for name in mentioned if _imported_first(outlined, known[name])]
    return {name: known[name] for name in sorted(mentioned, key=lambda name: name not in first)}


def _imported_first(outlined: Outline, entry: facts.Facts) -> bool:
    for node in outlined.imports:
        top = node.module.partition(".")[0]
        if top in entry.framework.packages:
            return True
    return False


class Resolver:
    """Positions and texts of places; only slices in which something was found are parsed."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.fixes: Fixes | None = None

    @remembered
    def locate(self, slice_: Slice) -> Located:
        """Return the syntax of a slice with the positions of its nodes; it is parsed once."""
        from inplace_lint.frontend.positions import Located  # noqa: PLC0415 - libcst only where something was found

        module = self.context.module(slice_.path)
        return Located(module.source, slice_, module.holes(slice_))

    def span(self, place: Place) -> Span:
        """Return the position of a place."""
        return self.locate(place.slice).span(place.at)

    def statement(self, place: Place) -> tuple[int, int]:
        """Return the first and last line of the statement around a place."""
        return self.locate(place.slice).statement(place.at)

    def owner(self, place: Place) -> str:
        """Return the name of the function or class that a slice is; empty for a statement of a module."""
        for item in self.context.module(place.slice.path).outline.items:
            for inner in (item, *item.methods):
                if inner.slice == place.slice:
                    return inner.qualname
        return ""

    def source(self, path: str) -> str:
        """Return the text of a file of the program."""
        return self.context.module(path).source

    def help(self, draft: Draft, span: Span) -> str:
        """Return the cure in one line; empty when nothing simple is right."""
        if self.fixes is not None and draft.repair is not None:
            return draft.help or NEW_TENSOR  # the text of the write misled: no fix was made of it
        return cure(draft, self.source(span.path), span, self.context.default())

    def fix(self, entry: Chosen, span: Span) -> Fix | None:
        """Return the fix of a finding, where fixes are made."""
        said = entry.said
        return None if self.fixes is None else self.fixes(said.event, said.draft, entry.saves, span, entry.hides)


def _counters(context: Context) -> dict[str, int]:
    counters = dict(context.fuel.counters)
    writers = schedule.writers(context.outline)
    returned = context.fuel.returned
    counters["functions_that_write"] = len(writers)
    counters["functions_reached_uncut"] = sum(schedule.key(item) in returned for item in writers)
    return counters
