"""`inplace-lint merge`: joins the JSON of several runs, such as the shards of one, into one report."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inplace_lint.cli import shared_options, streams
from inplace_lint.cli.options import resolver_of
from inplace_lint.core.errors import UnreadableError

if TYPE_CHECKING:
    from inplace_lint.config.settings import Settings


@click.command(short_help="Join the JSON results of several runs.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@shared_options.output_format
@shared_options.output_file
@shared_options.lang
@shared_options.color()
@shared_options.exit_options
def merge(paths: tuple[Path, ...], output_file: Path | None, **options: Any) -> int:  # noqa: ANN401 - as click passes them
    """Join results in JSON, such as those of `--shard 1/2` and `--shard 2/2`, into one report."""
    return _merge(paths, resolver_of(options).settings_of(Path.cwd()), output_file)


def _merge(paths: tuple[Path, ...], settings: Settings, output_file: Path | None) -> int:
    """
    Write one report of the findings in files of JSON, and return the exit status.

    Raises: `InplaceLintError` for a file that is none.
    """
    from inplace_lint.cli.output import exit_status, write  # noqa: PLC0415 - wrong options answer at once
    from inplace_lint.driver.session import Outcome  # noqa: PLC0415
    from inplace_lint.report.formats import json_list  # noqa: PLC0415
    from inplace_lint.report.read_json import joined, read  # noqa: PLC0415
    from inplace_lint.workspace import files, notebook  # noqa: PLC0415

    pairs = joined([read(path) for path in paths])
    outcome = Outcome(tuple(finding for _, finding in pairs))
    for name in sorted({notebook.file_of(one.span) for one in outcome.findings if one.span.cell is not None}):
        with contextlib.suppress(UnreadableError):  # the report then shows no text of it
            outcome.notebooks[name] = notebook.parse(name, files.read(Path(name)))
    dump = {"json": json_list.dumped, "json-lines": json_list.dumped_lines}.get(settings.output_format)
    if dump is None:
        write(outcome, settings, output_file, {}, None)
    elif output_file is None:
        streams.write(sys.stdout, dump([row for row, _ in pairs]))
    else:
        files.put_text(output_file, dump([row for row, _ in pairs]))
    return exit_status(outcome, settings.lang, exit_zero=settings.exit_zero, fail_on=settings.fail_on)
