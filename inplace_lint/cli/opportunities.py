"""The command that shows where in place is safe and uses less memory: rules that give advice, and unreadable files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from inplace_lint.cli import shared_options
from inplace_lint.cli.options import PolicyOptions, resolve_paths, resolver_of


@click.command(short_help="Show where an in-place operation is safe and saves memory.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@shared_options.output_format
@shared_options.output_file
@click.option("--fix", is_flag=True, help="Apply what --confirm proves, and report what remains.")
@click.option("--unsafe-fixes", is_flag=True, help="Apply what is not proved, too.")
@shared_options.diff
@shared_options.jobs
@shared_options.lang
@shared_options.color()
@click.option("--confirm", is_flag=True, help="Run each module as it is and in place, and compare results and memory.")
@shared_options.proof_options
def opportunities(paths: tuple[Path, ...], output_file: Path | None, *, diff: bool, **options: Any) -> int:  # noqa: ANN401 - as click passes them
    """
    Show operations that would use less memory in place, where no other code needs what they overwrite.

    The largest tensors come first. Without a path, the current folder is checked.
    """
    from inplace_lint.cli.check_command import apply_fixes, runner  # noqa: PLC0415 - wrong options answer at once
    from inplace_lint.cli.output import exit_status, write  # noqa: PLC0415
    from inplace_lint.live.confirm.command import proved  # noqa: PLC0415
    from inplace_lint.rules import RULES  # noqa: PLC0415
    from inplace_lint.rules.text import INVALID_SYNTAX  # noqa: PLC0415

    advice = (*(rule.code for rule in RULES if rule.unanimous), INVALID_SYNTAX.code)
    proof = shared_options.proof_of(options)
    paths, stdin = resolve_paths(paths, None)
    resolver = resolver_of({**options, "select": advice})
    settings = resolver.settings_of(Path.cwd())
    again = diff or settings.fix
    run = runner(paths, stdin, resolver, settings, PolicyOptions(), is_again=again)
    fixes = apply_fixes(run, settings, proof, diff=diff, is_stdin=paths == (Path("-"),))
    outcome, texts = run({}) if fixes is None else (fixes.outcome, fixes.texts)
    if fixes is not None and fixes.silent:
        return exit_status(outcome, settings.lang, exit_zero=True)
    if proof["confirm"]:
        texts |= proved(outcome, proof, settings)
    outcome.findings = tuple(sorted(outcome.findings, key=lambda one: (-one.gain, one.span)))
    write(outcome, settings, output_file, texts, fixes, nothing="No opportunities found.")
    return exit_status(outcome, settings.lang, exit_zero=settings.exit_zero)
