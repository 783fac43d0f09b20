"""The command that shows where in place is safe and uses less memory: the rules that give advice, and they alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from inplace_lint.cli.options import PolicyOptions, known_rules, resolve_paths, resolver_of
from inplace_lint.cli.param_types import Count, OneOf, Output
from inplace_lint.config.schema import COLORS, FORMATS, LANGS


@click.command(short_help="Show where an in-place operation is safe and saves memory.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--output-format", type=OneOf(FORMATS), metavar="|".join(FORMATS), help="Output format of findings.")
@click.option("-o", "--output-file", type=Output(), metavar="FILE", help="Write findings to this file.")
@click.option("-j", "--jobs", type=Count(), metavar="N", help="Number of processes; default one per CPU.")
@click.option("--lang", type=OneOf(LANGS), metavar="|".join(LANGS), help="Language of the output.")
@click.option("--color", type=OneOf(COLORS), metavar="|".join(COLORS), help="When to use colors.")
def opportunities(paths: tuple[Path, ...], output_file: Path | None, **options: Any) -> int:  # noqa: ANN401 - as click passes them
    """
    Show operations that would use less memory in place, where nothing else needs what they overwrite.

    The largest tensors come first. Without a path, the current folder is checked.
    """
    from inplace_lint.cli.check_command import runner  # noqa: PLC0415 - wrong options answer at once
    from inplace_lint.cli.output import exit_status, write  # noqa: PLC0415
    from inplace_lint.rules import RULES  # noqa: PLC0415

    advice = tuple(rule.code for rule in RULES if rule.unanimous)
    paths, stdin = resolve_paths(paths, None)
    resolver = resolver_of(known_rules(), {**options, "select": advice})
    settings = resolver.settings_of(Path.cwd())
    outcome, texts = runner(paths, stdin, resolver, settings, PolicyOptions())({})
    outcome.findings = tuple(sorted(outcome.findings, key=lambda one: (-one.gain, one.span)))
    write(outcome, settings, output_file, texts, None)
    return exit_status(outcome, settings.lang, exit_zero=settings.exit_zero)
