"""
Checks one file of a run, in the process that runs it or in one of the pool.

This is the only place that catches every exception: a crash on one file becomes a line about that file, and the run
goes on with the next.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from inplace_lint.core.errors import FactError, PluginError, UnreadableError
from inplace_lint.core.runtime_limits import collector_off
from inplace_lint.driver.after_edit import Earlier, Roots, joined
from inplace_lint.driver.crashes import crash, hides_interrupt, syntax_finding
from inplace_lint.driver.entry import Entry
from inplace_lint.driver.kept import KeptFiles
from inplace_lint.effects.edited import Ran
from inplace_lint.knowledge.locate import framework_names
from inplace_lint.knowledge.own import OwnFact, written
from inplace_lint.rules.plugins import rules_of
from inplace_lint.workspace import files, import_graph
from inplace_lint.workspace.claims import Claim
from inplace_lint.workspace.places import Disk, Shipped

if TYPE_CHECKING:
    from inplace_lint.config.settings import Settings
    from inplace_lint.fix.context import Fixes, Locate, Rerun
    from inplace_lint.interp.context import Context
    from inplace_lint.rules.draft import Draft
    from inplace_lint.workspace.module_store import Project


_MOST_GARBAGE = 500_000


class Task(NamedTuple):
    """
    One file to analyze: the path that its findings carry, its bytes, and the settings that results depend on.

    `root` is the top folder in which its imports are looked up. `opinions`: what is no fault is reported as well.
    `advice`: all code is run, and what would spare memory is reported.
    `reported`: findings in it are shown; it is False for a file that is only a caller of such. `texts` replace the
    files of these paths. `traced`: the result is to be kept. `kept` says where earlier runs have kept what is known of
    single files. `shipped` are files that stand for all on disk. `own` are the facts of the project itself. `plugins`
    bring more rules, and do not come from `project`, the folder of the configuration that names them. After an edit of
    a text that was checked `earlier`, only what it affects is run.
    """

    path: str
    data: bytes
    torch_version: str | None = None
    paddle_version: str | None = None
    root: str = ""
    opinions: bool = False
    advice: bool = False
    reported: bool = True
    texts: tuple[tuple[str, bytes], ...] = ()
    traced: bool = False
    kept: KeptFiles = KeptFiles()
    shipped: Shipped | None = None
    own: tuple[OwnFact, ...] = ()
    plugins: tuple[str, ...] = ()
    project: str = ""
    earlier: Earlier | None = None


class Checked(Struct, frozen=True):
    """
    The result of checking one file.

    `failure` says why there is none, `no_facts` why no file can have one, `lasting` whether it may be kept. `answers`
    are the claims about other files that it rests on; `outlines` and `headers` are those of files that were read for it
    first.
    `roots` and `ran` say which entry points found what, and what each did.
    """

    entry: Entry
    seconds: Mapping[str, float] = field(default_factory=dict)
    failure: str = ""
    lasting: bool = True
    no_facts: str = ""
    answers: Mapping[Claim, str] = field(default_factory=dict)
    outlines: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, bytes] = field(default_factory=dict)
    roots: Roots = field(default_factory=dict)
    ran: Mapping[str, Ran] = field(default_factory=dict)


def check_one(task: Task) -> Checked:
    """Check one file and return the result, whatever goes wrong. It runs in a process of the pool."""
    with collector_off():
        checked = check_task(task)
    if gc.get_count()[0] > _MOST_GARBAGE:
        gc.collect()
    return checked


def check_task(task: Task) -> Checked:
    """Check one file; no fault of it, or of ours, is raised."""
    source = ""
    try:
        source = files.decode(task.data)
        return _checked(task, source)
    except (UnreadableError, PluginError) as error:
        return failed(str(error))
    except FactError as error:
        return failed("", no_facts=str(error))
    except SyntaxError as error:
        finding = syntax_finding(task.path, source, error)
        return failed(crash(error)) if finding is None else Checked(Entry((finding,), {}, {}), lasting=False)
    except RecursionError:
        return failed("nested too deeply to be analyzed")
    except MemoryError:
        return failed("not enough memory to analyze it")
    except Exception as error:
        if hides_interrupt(error):
            raise KeyboardInterrupt from error
        return failed(crash(error))


def _checked(task: Task, source: str) -> Checked:
    started, busy = time.perf_counter(), time.process_time()
    from inplace_lint.driver.analyze_file import Options, check_file  # noqa: PLC0415 - libcst only after the cache missed

    versions = versions_of(task)
    project = _project(task)
    if project is not None:
        project.asked.start()
        project.outlines = {}
    rules = rules_of(task.plugins, Path(task.project))
    options = Options(versions, task.opinions, task.advice, task.own, rules)
    earlier = task.earlier
    move = None if earlier is None else earlier.after(task.path, source)
    edited = None if earlier is None or move is None else move.edited(earlier.ran)
    result = check_file(task.path, source, options, project, _make_fixes, edited=edited)
    rest = time.perf_counter() - started - sum(result.seconds.values())
    seconds = {**result.seconds, "other": rest}
    entry = Entry(result.findings, result.counters, result.statements, round(1000 * (time.process_time() - busy)))
    done = Checked(entry, seconds, roots=result.roots, ran=result.ran)
    if earlier is not None and move is not None and result.part is not None:
        entry, roots = joined(done.entry, done.roots, move.kept(earlier, result.part.run))
        return replace(done, entry=entry, lasting=False, roots=roots, ran={**earlier.ran, **done.ran})
    if project is None or not task.traced:
        return done
    answers, headers = project.answers(task.path), project.new_headers()
    return replace(done, answers=answers, outlines=project.outlines, headers=headers)


def versions_of(chosen: Task | Settings) -> tuple[tuple[str, str], ...]:
    """Return the versions of frameworks that are chosen, by framework."""
    named = (("torch", chosen.torch_version), ("paddle", chosen.paddle_version))
    return tuple((framework, version) for framework, version in named if version is not None)


def _project(task: Task) -> Project | None:
    """Return what this process has read of the project of a file."""
    if not task.root:
        return None
    place = task.shipped or Disk(dict(task.texts))
    project = import_graph.project(task.root, framework_names(), place, task.kept)
    writers = written(task.own)
    if project.own_writers != writers:
        project.lighten()
        project.own_writers = writers
    return project


def _make_fixes(context: Context, rerun: Rerun, drafts: Sequence[Draft], locate: Locate) -> Fixes:
    from inplace_lint.fix.fixers import make_fixes  # noqa: PLC0415 - only where something was found

    return make_fixes(context, rerun, drafts, locate)


def failed(reason: str, no_facts: str = "") -> Checked:
    """Return the result of a file that cannot be checked."""
    return Checked(Entry((), {}, {}), failure=reason, lasting=False, no_facts=no_facts)
