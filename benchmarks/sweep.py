"""
Finds files that break or hang the tool: `python benchmarks/sweep.py [--every] TREE...`.

Checks each file of the trees alone, in the processes that the tool uses, and prints the internal errors, the files that
took longer than `--seconds` of a processor, the slowest files, and the memory of the largest process. The exit status
is 1 if there was an internal error, a file over its time, or a process over `--megabytes`. With `--every`, files that
name no framework are checked as if they imported one at their end, and no folder is left out; otherwise they are
skipped, as in a run of the tool. With `--errors`, each finding of that severity is printed.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from inplace_lint.config.settings import Settings  # noqa: E402
from inplace_lint.core.errors import UnreadableError  # noqa: E402
from inplace_lint.core.finding import Finding, Severity  # noqa: E402
from inplace_lint.driver import session  # noqa: E402 - the tool of this checkout, not an installed one
from inplace_lint.driver.check_task import Task, check_one  # noqa: E402
from inplace_lint.driver.executors.executor import Lost  # noqa: E402
from inplace_lint.driver.executors.local import run_all  # noqa: E402
from inplace_lint.knowledge.locate import framework_names  # noqa: E402
from inplace_lint.workspace import files, import_graph  # noqa: E402 - the tool of this checkout, not an installed one

ENDING = b"\nimport torch\n"
FOUND, SYNTAX = "found", "IPL902"


class Row(NamedTuple):
    """The result of one file: `peak` is the largest memory, in MB, of its process so far, `grew` the increase."""

    path: str
    seconds: float
    peak: float
    grew: float
    kind: str
    words: str
    codes: tuple[str, ...]
    errors: tuple[str, ...] = ()


class OvertimeError(BaseException):
    """A file took too long. This is no `Exception`, so that the handlers for one file's failures do not catch it."""


def main() -> int:
    """
    Sweep the trees and print the results; the exit status is 1 when a file broke the tool, hung, or took too much
    memory.
    """
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--every", action="store_true", help="check files that name no framework as well")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0, help="what one file may take, of a processor's time")
    parser.add_argument("--megabytes", type=float, default=1024.0, help="what one process may take")
    parser.add_argument("--sample", type=int, default=0, help="so many files of all, chosen by a fixed seed")
    parser.add_argument("--slowest", type=int, default=10, help="how many of the slowest files are listed")
    parser.add_argument("--errors", action="store_true", help="tell each finding of severity error")
    parser.add_argument("--rows", type=Path, help="write a line of JSON for each file here")
    chosen = parser.parse_args()
    tasks, unread = read(chosen.trees, every=chosen.every)
    if chosen.sample:
        tasks = sorted(random.Random(0).sample(tasks, min(chosen.sample, len(tasks))), key=lambda task: task.path)
    lines = sum(task.data.count(b"\n") for task in tasks)
    print(f"{len(tasks)} files, {lines} lines; {len(unread)} could not be read", flush=True)
    started = time.perf_counter()
    rows = list(swept(tasks, chosen.jobs, chosen.seconds, chosen.rows))
    print(summary_text(rows, time.perf_counter() - started, lines, chosen.slowest))
    if chosen.errors:
        print("errors:", *(f"  {error}" for row in rows for error in row.errors), sep="\n")
    broken = [row for row in rows if row.kind in {"fault", "lost", "overtime"}]
    return 1 if broken or any(row.peak > chosen.megabytes for row in rows) else 0


def read(trees: Sequence[Path], *, every: bool) -> tuple[list[Task], list[str]]:
    """Return a task for each file of the trees to check, and a line for each that cannot be read."""
    names = framework_names()
    settings = Settings(root=Path.cwd(), cache=False)
    plan = session.Plan(settings, lambda _path: settings, lambda _path: frozenset())
    found = files.find([path for tree in trees for path in _everything(tree)] if every else trees, {})
    tasks: list[Task] = []
    unread = list(found.troubles)
    for path in found.files:
        try:
            data = files.read(path)
        except UnreadableError as error:
            unread.append(f"{path}: {error}")
            continue
        if path.suffix != ".py":
            continue
        if not files.mentions(data, names):
            if not every:
                continue
            data += ENDING
        tasks.append(session.task_of(files.shown(path), data, path, import_graph.root_of(path), plan))
    return tasks, unread


def _everything(tree: Path) -> list[Path]:
    return sorted(path for path in tree.rglob("*.py") if path.is_file()) if tree.is_dir() else [tree]


def swept(tasks: Sequence[Task], jobs: int, seconds: float, place: Path | None) -> Iterator[Row]:
    """Check each task; each result is written at once, so that an aborted sweep is not lost."""
    out = place.open("a", encoding="utf-8") if place is not None else None
    for index, answer in run_all(partial(watched, seconds), tasks, jobs):
        if isinstance(answer, Lost):
            answer = Row(tasks[index].path, 0.0, 0.0, 0.0, "lost", answer.reason, ())  # noqa: PLW2901
        if out is not None:
            out.write(json.dumps(answer._asdict()) + "\n")
            out.flush()
        yield answer
    if out is not None:
        out.close()


def watched(seconds: float, task: Task) -> Row:
    """Check a file under an alarm."""
    signal.signal(signal.SIGPROF, _ring)
    before, started = _peak(), time.process_time()
    codes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        checked = check_one(task)
        kind, words = kind_of(checked.failure), checked.failure
        codes = tuple(finding.code for finding in checked.entry.findings)
        errors = tuple(_line(finding) for finding in checked.entry.findings if finding.severity is Severity.ERROR)
    except OvertimeError as error:
        frames = traceback.extract_tb(error.__traceback__)[-6:]
        kind, words = "overtime", " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in reversed(frames))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    peak = _peak()
    return Row(task.path, time.process_time() - started, peak, peak - before, kind, words, codes, errors)


def _line(finding: Finding) -> str:
    return f"{finding.span.path}:{finding.span.line}: {finding.code} {finding.message}"


def kind_of(failure: str) -> str:
    """Classify a check by its failure: a `fault` is ours, `refused` is the file's."""
    if not failure:
        return FOUND
    return "fault" if failure.startswith(("internal error", "not enough memory")) else "refused"


def summary_text(rows: Sequence[Row], wall: float, lines: int, slowest: int) -> str:
    """Return the rows as text."""
    kinds = Counter(row.kind for row in rows)
    codes = Counter(code for row in rows for code in row.codes)
    spent = sum(row.seconds for row in rows)
    peak = max((row.peak for row in rows), default=0.0)
    rate = lines / max(spent, 1e-9)
    parts = [
        f"{len(rows)} files in {wall:.0f} s ({spent:.0f} s of a processor, {rate:.0f} lines each); peak {peak:.0f} MB",
        f"ends: {dict(kinds)}; findings: {dict(sorted(codes.items()))}",
    ]
    odd = [row for row in rows if row.kind != FOUND]
    parts.extend(f"{row.kind}: {row.path}: {row.words} ({row.seconds:.1f} s)" for row in odd)
    parts.append("slowest:")
    by_time = sorted(rows, key=lambda row: -row.seconds)[:slowest]
    parts.extend(f"  {row.seconds:7.1f} s  {row.peak:6.0f} MB (+{row.grew:.0f})  {row.path}" for row in by_time)
    parts.append("memory grew most at:")
    by_growth = sorted(rows, key=lambda row: -row.grew)[:slowest]
    parts.extend(f"  +{row.grew:.0f} MB  {row.path}" for row in by_growth)
    return "\n".join(parts)


def _ring(_number: int, _frame: object) -> None:
    raise OvertimeError


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
