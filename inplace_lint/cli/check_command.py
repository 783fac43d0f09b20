"""One run of the command as it was asked for: of files or standard input, findings told or put to another use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inplace_lint.cli import streams, terminal
from inplace_lint.cli.options import Wishes
from inplace_lint.config.resolve import Scope
from inplace_lint.config.settings import Settings
from inplace_lint.driver import session
from inplace_lint.driver.session import Outcome
from inplace_lint.workspace import files, import_graph, notebook

if TYPE_CHECKING:
    from inplace_lint.fix.apply.command import FixRun

Run = Callable[[Mapping[str, bytes]], tuple[Outcome, dict[str, bytes]]]


def compatible(wishes: Wishes, settings: Settings, *, diff: bool, is_stdin: bool) -> None:
    """
    Accept options that go together.

    Raises: `click.UsageError` for what writes comments or a baseline on standard input, or along with something else.
    """
    if len(wishes.writes) > 1:
        msg = f"{wishes.writes[0]} does not go with {wishes.writes[1]}: one after the other"
        raise click.UsageError(msg)
    for option in wishes.writes:
        if is_stdin:
            msg = f"{option} goes by files, and `-` is none"
            raise click.UsageError(msg)
        if diff or settings.fix or settings.fix_only:
            msg = f"{option} does not go with fixes: apply or leave these first"
            raise click.UsageError(msg)


def runner(paths: tuple[Path, ...], stdin: Path, scope: Scope, settings: Settings, wishes: Wishes) -> Run:
    """Give what checks the paths, with texts that stand for files; it may be asked again with others."""
    progress = terminal.progress() if sys.stderr.isatty() else None
    plan = session.Plan(
        settings, scope.settings_of, scope.codes_of, progress, scope.opinions_of, memory={}, nested=scope.nested
    )
    look = _stdin(stdin, scope, plan) if paths == (Path("-"),) else _files(paths, scope, plan)

    if not (wishes.writes or settings.baseline or wishes.since):
        return look
    from inplace_lint.policy import apply, changed_lines  # noqa: PLC0415 - most runs do without

    changed = changed_lines.changed_lines(wishes.since) if wishes.since else None

    read_first: dict[str, bytes] = {}

    def run(texts: Mapping[str, bytes]) -> tuple[Outcome, dict[str, bytes]]:
        outcome, read = look(texts)
        if not read_first:
            read_first.update(outcome.asked)
        now = None if changed is None else changed_lines.moved(changed, read_first, texts)
        outcome.word = apply.adopt(outcome, read, settings, wishes, now)
        return outcome, read

    return run


def _files(paths: tuple[Path, ...], scope: Scope, plan: session.Plan) -> Run:
    excluded = scope.excludes(paths)
    return lambda texts: (session.run(paths, excluded, plan._replace(texts=texts)), dict(texts))


def _stdin(path: Path, scope: Scope, plan: session.Plan) -> Run:
    given = streams.read()
    passed_over = plan.settings.force_exclude and files.is_excluded(path, scope.excludes((path,)))
    name, root = (files.shown(path), import_graph.root_of(path)) if path != Path("-") else ("-", "")

    def run(texts: Mapping[str, bytes]) -> tuple[Outcome, dict[str, bytes]]:
        data = texts.get(name, given)
        outcome = Outcome(asked={name: data})
        if passed_over:
            return outcome, {}
        if path.suffix == notebook.SUFFIX:
            book = outcome.notebooks[name] = notebook.parse(name, data)
            data = book.source.encode("utf-8", "surrogatepass")
        task = session.task_of(name, data, path, root, plan)
        tasks = [task] if files.mentions(data, session.framework_names()) else []
        return session.check_all(tasks, plan, outcome), {task.path: data}

    return run


def mended_by(run: Run, settings: Settings, *, diff: bool, is_stdin: bool) -> FixRun | None:
    """Give what fixes did, where any were asked for; lines about it are on stderr by then."""
    if not (diff or settings.fix or settings.fix_only):
        return None
    from inplace_lint.fix.apply.command import apply_fixes  # noqa: PLC0415 - most runs do without

    mended = apply_fixes(run, settings, diff=diff, is_stdin=is_stdin)
    for line in mended.words:
        streams.tell(line)
    return mended
