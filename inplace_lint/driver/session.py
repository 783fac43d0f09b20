"""One run: finds and reads files, has them checked in parallel, and removes what comments suppress."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct, field

from inplace_lint.config.pins import pinned
from inplace_lint.config.settings import Settings
from inplace_lint.core.errors import UnreadableError
from inplace_lint.core.finding import Finding, Severity
from inplace_lint.core.span import Span
from inplace_lint.driver.after_edit import Earlier
from inplace_lint.driver.check_task import Checked, Task
from inplace_lint.driver.dispatch import Progress, Workers
from inplace_lint.driver.executors.executor import Executor
from inplace_lint.driver.kept import KeptFiles
from inplace_lint.driver.merge_findings import is_agreed, merged
from inplace_lint.driver.shard import Shard, part
from inplace_lint.driver.store import Key, Store, ValidResults
from inplace_lint.driver.trained import with_trained
from inplace_lint.knowledge.locate import context_of, digest_of_facts, framework_names
from inplace_lint.policy import assumed, suppress
from inplace_lint.rules import BUILT_IN, RULE_OF, RULES, TEXT_RULES
from inplace_lint.rules.plugins import digests_of
from inplace_lint.rules.text import UNUSED_SUPPRESSION
from inplace_lint.workspace import files, import_graph, notebook
from inplace_lint.workspace.claims import digest
from inplace_lint.workspace.memory import Memory


class Outcome(Struct):
    """
    What a run found, in the order of paths and places.

    `failures` has one line for each file that could not be checked. `statements` gives, for the span of each finding,
    the lines on which a comment suppresses it. `seconds` adds up the stages over all processes. Findings in `notebooks`
    have places in their cells. `requested` are the files that were to be checked, with the bytes read. `hidden` has the
    findings of the baseline. `notes` are lines for the user that are no failure of a file. `notice` says what was done
    with the findings in place of reporting them. `assumed` counts those for which nobody in sight asks for a gradient,
    `set_aside` those that rest on assumptions which the settings hide.
    """

    findings: tuple[Finding, ...] = ()
    failures: list[str] = field(default_factory=list)
    statements: dict[Span, tuple[int, int]] = field(default_factory=dict)
    counters: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    notebooks: dict[str, notebook.Notebook] = field(default_factory=dict)
    requested: dict[str, bytes] = field(default_factory=dict)
    hidden: dict[Finding, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    notice: str = ""
    assumed: int = 0
    set_aside: int = 0


class Plan(NamedTuple):
    """
    What to run, and how to find the settings of each file.

    `settings_of`, `codes_of` and `opinions_of` return for a path its settings, the rules that apply, and those of them
    that may report what is no fault; `severities_of` the severities that are set, by code. `texts` replace files, by
    the paths that findings carry. `store` keeps results for later runs, `memory` what was read for later runs of this
    process. `nested` returns the patterns that a configuration file in a searched folder excludes. Of the files only
    those of the `shard` are checked, if there is one; findings in `others` are those of other shards. Without
    `callers`, only what the files themselves run is found, and of a file that is known `earlier` only what its edit
    affects is run. The `executor` says where files are checked; without one this machine does.
    """

    settings: Settings
    settings_of: Callable[[Path], Settings]
    codes_of: Callable[[Path], frozenset[str]]
    progress: Progress | None = None
    opinions_of: Callable[[Path], frozenset[str]] = lambda _path: frozenset()
    texts: Mapping[str, bytes] = MappingProxyType({})
    store: Store | None = None
    nested: Callable[[Path], Sequence[str]] | None = None
    memory: Memory | None = None
    severities_of: Callable[[Path], Mapping[str, str]] = lambda _path: {}
    shard: Shard | None = None
    others: frozenset[str] = frozenset()
    callers: bool = True
    executor: Executor | None = None
    earlier: dict[tuple[str, str], Earlier] | None = None


def run(paths: Sequence[Path], exclude: Mapping[Path, Sequence[str]], plan: Plan) -> Outcome:
    """Check every file that the paths mean; no failure of a file ends the run."""
    outcome = Outcome()
    found = files.find(paths, exclude, force=plan.settings.force_exclude, nested=plan.nested)
    outcome.failures.extend(found.troubles)
    outcome.notes.extend(found.notes)
    mine: Sequence[Path] = found.files
    if plan.shard is not None:
        mine = part(found.files, plan.shard)
        plan = plan._replace(others=frozenset(map(files.shown, set(found.files) - set(mine))))
    return check_files(mine, exclude, plan, outcome)


def check_files(paths: Sequence[Path], exclude: Mapping[Path, Sequence[str]], plan: Plan, outcome: Outcome) -> Outcome:
    """Check the files, with their callers, and add findings and failures to the outcome."""
    tasks = _tasks(paths, plan, outcome)
    graphs = _graphs(tasks, exclude, plan)
    return _check_all(_with_callers(tasks, graphs, plan), graphs, plan, outcome)


def check_all(tasks: Sequence[Task], plan: Plan, outcome: Outcome) -> Outcome:
    """Check the tasks, with their callers where they are at a path, and add findings and failures to the outcome."""
    graphs = _graphs(tasks, {}, plan)
    alone = [task for task in tasks if not task.root]
    around = _with_callers(tasks, {root: graph for root, graph in graphs.items() if root}, plan)
    return _check_all([*alone, *around], graphs, plan, outcome)


def _graphs(tasks: Sequence[Task], exclude: Mapping[Path, Sequence[str]], plan: Plan) -> dict[str, import_graph.Graph]:
    """Return the graph of imports below each root of the tasks."""
    names, kept = framework_names(), _kept_files(plan.store)
    memory = Memory() if plan.memory is None else plan.memory
    memory.refresh(plan.texts)
    found = {
        root: memory.graph(root, lambda root: import_graph.Graph(root, names, {}, exclude, kept))
        for root in sorted({task.root for task in tasks})
    }
    for root, graph in found.items():
        graph.update({**plan.texts, **{task.path: task.data for task in tasks if task.root == root}})
    return found


def _check_all(
    tasks: Sequence[Task], graphs: Mapping[str, import_graph.Graph], plan: Plan, outcome: Outcome
) -> Outcome:
    store, began = plan.store, time.time_ns()
    if plan.memory is None:
        import_graph.forget()
    results: dict[str, Checked] = {}
    keys = _keys(tasks, plan.settings) if store is not None else {}
    if store is not None:
        checks = {root: ValidResults(store, graph.answer) for root, graph in graphs.items()}
        kept = ((task, checks[task.root].get(keys[task.path], task.data)) for task in tasks)
        results.update((task.path, Checked(entry)) for task, entry in kept if entry is not None)
    outcome.counters["files_from_cache"] += len(results)
    files_kept = _kept_files(store)
    pending = [_prepared(task, keys, plan, files_kept) for task in tasks if task.path not in results]
    pending.sort(key=lambda task: (-len(task.data), task.path))  # the longest last would keep one process alone
    for root in {task.root for task in pending if task.root}:
        graphs[root].project()  # with which processes that are forked from this one begin
    workers = Workers(plan.executor, plan.settings.jobs, plan.memory is not None)
    try:
        for task, checked in workers.check(pending, graphs, plan.progress):
            results[task.path] = checked
            _remember(task, checked, keys, plan)
            if store is not None and checked.lasting:
                store.put(keys[task.path], checked.entry, checked.answers, task.data)
                store.put_outlines(checked.outlines, files_kept.code)
                store.put_headers(checked.headers, files_kept.code)
    finally:
        if plan.progress is not None:
            plan.progress.end()
        if store is not None:
            for graph in graphs.values():
                store.put_headers(graph.headers.taken(), files_kept.code)
            store.end()
        if plan.memory is not None:
            plan.memory.remember(began)
    started = time.perf_counter()
    _collect(tasks, results, graphs, plan, outcome)
    _add_seconds(outcome, {"suppress": time.perf_counter() - started})
    return outcome


def _prepared(task: Task, keys: Mapping[str, Key], plan: Plan, kept: KeptFiles) -> Task:
    """Return a task with what is kept of files and, where only what the file itself runs is asked for, of its text."""
    by_edit = plan.earlier if plan.earlier is not None and not plan.callers else {}
    earlier = by_edit.get(keys[task.path][:2]) if by_edit else None
    return task._replace(traced=plan.store is not None, kept=kept, earlier=earlier)


def _remember(task: Task, checked: Checked, keys: Mapping[str, Key], plan: Plan) -> None:
    """Keep what was found in a text for the time when it is edited."""
    if plan.earlier is not None and not checked.failure:
        known = Earlier(files.decode(task.data), checked.entry, checked.roots, checked.ran)
        plan.earlier[keys[task.path][:2]] = known


def _kept_files(store: Store | None) -> KeptFiles:
    return KeptFiles() if store is None else store.files(framework_names())


def _keys(tasks: Sequence[Task], settings: Settings) -> dict[str, Key]:
    """Return the keys under which the results of tasks are kept."""
    here, facts = os.path.relpath(Path.cwd(), settings.root), digest_of_facts()
    contexts: dict[tuple[str | None, ...], str] = {}
    found: dict[str, Key] = {}
    for task in tasks:
        root = os.path.relpath(task.root, settings.root) if task.root else None
        asked = "advice" if task.advice else "opinions" if task.opinions else None
        own = digest(repr([one.text for one in task.own])) if task.own else None
        variant = (task.torch_version, task.paddle_version, asked, here, root, own, *digests_of(task.plugins))
        if variant not in contexts:
            contexts[variant] = context_of(facts, variant)
        found[task.path] = Key(task.path, contexts[variant], digest(task.data))
    return found


def _tasks(paths: Sequence[Path], plan: Plan, outcome: Outcome) -> list[Task]:
    started = time.perf_counter()
    names = framework_names()
    tasks: list[Task] = []
    roots: dict[Path, str] = {}
    for path in paths:
        shown = files.shown(path)
        try:
            data = plan.texts[shown] if shown in plan.texts else files.read(path)
        except UnreadableError as error:
            outcome.failures.append(f"{shown}: {error}")
            continue
        outcome.counters["files"] += 1
        outcome.requested[shown] = data
        if not files.mentions(data, names):
            continue
        if path.suffix == notebook.SUFFIX:
            try:
                book = outcome.notebooks[shown] = notebook.parse(shown, data)
            except UnreadableError as error:
                outcome.failures.append(f"{shown}: {error}")
                continue
            data = book.source.encode("utf-8", "surrogatepass")
        if path.parent not in roots:
            roots[path.parent] = import_graph.root_of(path)
        tasks.append(task_of(shown, data, path, roots[path.parent], plan))
    outcome.counters["files_with_framework"] += len(tasks)
    _add_seconds(outcome, {"read": time.perf_counter() - started})
    return tasks


def task_of(name: str, data: bytes, path: Path, root: str, plan: Plan, *, reported: bool = True) -> Task:
    """Return the task of checking a text that is, or would be, at a path."""
    settings = plan.settings_of(path)
    opinions = plan.opinions_of(path)
    advice = any(RULE_OF[code].unanimous for code in opinions)
    torch = settings.torch_version or pinned(settings.root, "torch")
    paddle = settings.paddle_version or pinned(settings.root, "paddle")
    texts, own = tuple(plan.texts.items()), settings.own_facts
    task = Task(name, data, torch, paddle, root, bool(opinions), advice, reported, texts=texts, own=own)
    return task._replace(plugins=settings.rule_plugins, project=str(settings.root))


def _with_callers(tasks: Sequence[Task], graphs: Mapping[str, import_graph.Graph], plan: Plan) -> list[Task]:
    """Return the tasks with those of callers: files whose entry points may find something in them."""
    if not plan.callers:
        return list(tasks)
    names = framework_names()
    done: list[Task] = []
    for root, graph in graphs.items():
        mine = {task.path: task for task in tasks if task.root == root}
        # Where all files are checked, as in a run over a whole project, the graph is not made.
        if any(files.mentions(graph.text(name), names) for name in graph.others(mine)):
            for name in sorted({name for path in mine for name in graph.callers(path)} - mine.keys()):
                data = graph.text(name)
                if files.mentions(data, names):
                    mine[name] = task_of(name, data, Path(name), root, plan, reported=False)
        done.extend(mine.values())
    return done


def _collect(
    tasks: Sequence[Task],
    results: Mapping[str, Checked],
    graphs: Mapping[str, import_graph.Graph],
    plan: Plan,
    outcome: Outcome,
) -> None:
    found: dict[tuple[str, Span], list[Finding]] = {}
    texts = {path: data for path, data in outcome.requested.items() if not path.endswith(notebook.SUFFIX)}
    texts.update((task.path, task.data) for task in tasks if task.reported)
    for task in tasks:
        checked = results[task.path]
        if checked.failure and task.reported:
            outcome.failures.append(f"{task.path}: {checked.failure}")
        if checked.failure:
            continue
        outcome.counters.update(checked.entry.counters if task.reported else {"files_around": 1})
        _add_seconds(outcome, checked.seconds)
        outcome.statements.update(checked.entry.statements)
        for finding in checked.entry.findings:
            if (
                _counts(finding, task, graphs, plan)
                and finding.span.path not in plan.others
                and _concerns(finding, texts)
            ):
                found.setdefault((finding.code, finding.span), []).append(finding)
    roots = {task.path: task.root for task in tasks}
    agreed = [merged(findings) for findings in with_trained(found, roots, graphs, plan.store).values()]
    kept = sorted(_kept(agreed, texts, plan, outcome), key=lambda one: (one.span, one.code))
    filtered = assumed.filtered(kept, plan.settings)
    outcome.assumed, outcome.set_aside = filtered.undecided, filtered.hidden
    kept = [assumed.ranked(one, plan.severities_of(Path(one.span.path))) for one in filtered.findings]
    books = outcome.notebooks
    outcome.findings = tuple(notebook.placed(one, books) for one in kept) if books else tuple(kept)
    outcome.failures.sort()


def _counts(finding: Finding, task: Task, graphs: Mapping[str, import_graph.Graph], plan: Plan) -> bool:
    """Return whether a finding is in the file of a task, or in one that counts this file among its callers."""
    place = finding.span.path
    return place == task.path or (plan.callers and task.path in graphs[task.root].callers(place))


def _concerns(finding: Finding, texts: Mapping[str, bytes]) -> bool:
    """Return whether the write or a save of a finding is in one of the files to report."""
    return finding.span.path in texts or any(related.span.path in texts for related in finding.related)


def _kept(found: Iterable[Finding], texts: Mapping[str, bytes], plan: Plan, outcome: Outcome) -> Iterator[Finding]:
    """Yield the findings whose rules apply at their place and that no comment suppresses."""
    by_path: dict[str, list[Finding]] = {}
    for finding in found:
        by_path.setdefault(finding.span.path, []).append(finding)
    unread = {line.partition(": ")[0] for line in outcome.failures}
    others = RULE_OF.keys() - {rule.code for rule in BUILT_IN}
    commented = {path for path, data in texts.items() if path not in unread and suppress.may_name_us(data, others)}
    for path in dict.fromkeys([*by_path, *sorted(commented)]):
        codes = plan.codes_of(Path(path))
        opinions = plan.opinions_of(Path(path))
        chosen = [
            finding
            for finding in by_path.get(path, ())
            if finding.code in codes
            and (finding.severity is not Severity.INFO or finding.code in opinions)
            and is_agreed(finding)
        ]
        reports_unused = path in commented and UNUSED_SUPPRESSION.code in codes
        if not chosen and not reports_unused:
            continue
        known = texts.get(path, plan.texts.get(path))
        source = files.decode(files.read(Path(path)) if known is None else known)
        if reports_unused:
            names, words, every = _names_of(codes)
            yield from suppress.unused(chosen, source, outcome.statements, path, names, known=words, every=every)
        left = suppress.unsuppressed(chosen, source, outcome.statements)
        outcome.counters["findings_suppressed"] += len(chosen) - len(left)
        yield from left


def _names_of(codes: frozenset[str]) -> tuple[dict[str, str], frozenset[str], bool]:
    """Return the codes by name of the rules that apply, all words for rules, and whether all default rules apply."""
    names = {rule.name: rule.code for rule in RULE_OF.values() if rule.code in codes and rule not in TEXT_RULES}
    words = {word for rule in RULE_OF.values() for word in (rule.code.lower(), rule.name)}
    return names, frozenset(words), all(rule.code in codes for rule in RULES if rule.default)


def _add_seconds(outcome: Outcome, seconds: Mapping[str, float]) -> None:
    for stage, spent in seconds.items():
        outcome.seconds[stage] = outcome.seconds.get(stage, 0.0) + spent
