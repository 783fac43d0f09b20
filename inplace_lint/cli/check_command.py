"""One run of `inplace-lint check`: of files or of standard input, with what is done to the findings and by fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inplace_lint.cli import streams, terminal
from inplace_lint.cli.machines.executor import executor_of
from inplace_lint.cli.options import PolicyOptions
from inplace_lint.config.resolve import SettingsResolver
from inplace_lint.config.settings import Settings
from inplace_lint.driver import session
from inplace_lint.driver.session import Outcome
from inplace_lint.driver.store import Store
from inplace_lint.knowledge.locate import framework_names
from inplace_lint.rules import RULE_OF
from inplace_lint.workspace import files, import_graph, notebook

if TYPE_CHECKING:
    from inplace_lint.cli.watch import Lasting
    from inplace_lint.fix.apply.command import FixRun

Run = Callable[[Mapping[str, bytes]], tuple[Outcome, dict[str, bytes]]]


def check_compatible(policy: PolicyOptions, settings: Settings, *, diff: bool, is_stdin: bool) -> None:
    """
    Check that the options go together.

    Raises: `click.UsageError` for options that write comments or a baseline, on standard input or along with others.
    """
    if len(policy.writes) > 1:
        msg = f"{policy.writes[0]} cannot be combined with {policy.writes[1]}: run one after the other"
        raise click.UsageError(msg)
    if policy.shard is not None and is_stdin:
        msg = "--shard needs files, and cannot be combined with `-`"
        raise click.UsageError(msg)
    if policy.shard is None and policy.shard_costs is not None:
        msg = "`--shard-costs` can only be used with `--shard`"
        raise click.UsageError(msg)
    for option in policy.writes:
        if is_stdin:
            msg = f"{option} needs files, and cannot be combined with `-`"
            raise click.UsageError(msg)
        if diff or settings.fix or settings.fix_only:
            msg = f"{option} cannot be combined with fixes: apply them first, or leave them out"
            raise click.UsageError(msg)


def runner(
    paths: tuple[Path, ...],
    stdin: Path,
    resolver: SettingsResolver,
    settings: Settings,
    policy: PolicyOptions,
    *,
    is_again: bool = False,
    lasting: Lasting | None = None,
) -> Run:
    """
    Return the function that checks the paths: it takes texts that replace files.

    `is_again`: it is called again; results are kept in memory where there is no cache. `lasting`: of earlier runs.
    """
    by_path = resolver.settings_of, resolver.codes_of, terminal.progress(), resolver.opinions_of
    kept = lasting.store if lasting is not None else Store(None) if is_again else None
    store = Store(settings.cache_folder) if settings.cache and not _advises(resolver, (*paths, stdin)) else kept
    plan = session.Plan(settings, *by_path, store=store, nested=resolver.nested, severities_of=resolver.severities_of)
    executor = executor_of(policy.executor, policy.ray_address, settings.jobs)
    shard = policy.shard and policy.shard._replace(costs=policy.shard_costs or {})
    plan = plan._replace(shard=shard, memory=None if lasting is None else lasting.memory, executor=executor)
    look = _stdin(stdin, resolver, plan) if paths == (Path("-"),) else _files(paths, resolver, plan)

    if not (policy.writes or settings.baseline or policy.since):
        return look
    from inplace_lint.policy import apply, changed_lines  # noqa: PLC0415 - most runs do without

    changed = changed_lines.changed_lines(policy.since) if policy.since else None
    read_first: dict[str, bytes] = {}

    def run(texts: Mapping[str, bytes]) -> tuple[Outcome, dict[str, bytes]]:
        outcome, read = look(texts)
        if not read_first:
            read_first.update(outcome.requested)
        now = None if changed is None else changed_lines.moved(changed, read_first, texts)
        outcome.notice = apply.adopt(outcome, read, settings, policy, now)
        return outcome, read

    return run


def _advises(resolver: SettingsResolver, paths: Iterable[Path]) -> bool:
    """Check whether advice is asked for: then all code is run, and what is learned of files holds for no other run."""
    return any(RULE_OF[code].unanimous for path in paths for code in resolver.opinions_of(path.absolute()))


def _files(paths: tuple[Path, ...], resolver: SettingsResolver, plan: session.Plan) -> Run:
    excluded = resolver.excludes(paths)
    return lambda texts: (session.run(paths, excluded, plan._replace(texts=texts)), dict(texts))


def _stdin(path: Path, resolver: SettingsResolver, plan: session.Plan) -> Run:
    given = streams.read()
    passed_over = plan.settings.force_exclude and files.is_excluded(path, resolver.excludes((path,)))
    name, root = (files.shown(path), import_graph.root_of(path)) if path != Path("-") else ("-", "")

    def run(texts: Mapping[str, bytes]) -> tuple[Outcome, dict[str, bytes]]:
        data = texts.get(name, given)
        outcome = Outcome(requested={name: data})
        if passed_over:
            return outcome, {}
        if path.suffix == notebook.SUFFIX:
            book = outcome.notebooks[name] = notebook.parse(name, data)
            data = book.source.encode("utf-8", "surrogatepass")
        task = session.task_of(name, data, path, root, plan)
        tasks = [task] if files.mentions(data, framework_names()) else []
        return session.check_all(tasks, plan._replace(texts={name: data}), outcome), {task.path: data}

    return run


def apply_fixes(run: Run, settings: Settings, proof: Mapping[str, Any], *, diff: bool, is_stdin: bool) -> FixRun | None:
    """
    Apply the fixes that were requested and return what they did, or None; lines about it are on stderr by then.

    `proof` are the options of `--confirm`, with which advice that is proved may be followed.
    """
    if not (diff or settings.fix or settings.fix_only):
        return None
    from inplace_lint.fix.apply import command  # noqa: PLC0415 - most runs do without
    from inplace_lint.live.confirm.command import proving  # noqa: PLC0415

    if proof["confirm"]:
        run = proving(run, proof, settings)
    fixes = command.apply_fixes(run, settings, diff=diff, is_stdin=is_stdin)
    for line in fixes.words:
        streams.write_error(line)
    return fixes
