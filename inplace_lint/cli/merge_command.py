"""`inplace-lint merge`: joins the JSON of several runs, such as the shards of one, into one report."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from inplace_lint.cli import streams
from inplace_lint.cli.output import exit_status, write
from inplace_lint.config.settings import Settings
from inplace_lint.core.errors import UnreadableError
from inplace_lint.driver.session import Outcome
from inplace_lint.report.formats import json_list
from inplace_lint.report.read_json import joined, read
from inplace_lint.workspace import files, notebook
from inplace_lint.workspace.notebook import file_of

_ROWS = {"json": json_list.dumped, "json-lines": json_list.dumped_lines}


def merge(paths: tuple[Path, ...], settings: Settings, output_file: Path | None) -> int:
    """
    Write one report of the findings in files of JSON, and return the exit status.

    Raises: `InplaceLintError` for a file that is none.
    """
    pairs = joined([read(path) for path in paths])
    outcome = Outcome(tuple(finding for _, finding in pairs))
    for name in sorted({file_of(finding.span) for finding in outcome.findings if finding.span.cell is not None}):
        with contextlib.suppress(UnreadableError):  # the report then shows no text of it
            outcome.notebooks[name] = notebook.parse(name, files.read(Path(name)))
    dump = _ROWS.get(settings.output_format)
    if dump is None:
        write(outcome, settings, output_file, {}, None)
    elif output_file is None:
        streams.write(sys.stdout, dump([row for row, _ in pairs]))
    else:
        files.put_text(output_file, dump([row for row, _ in pairs]))
    return exit_status(outcome, settings.lang, exit_zero=settings.exit_zero, fail_on=settings.fail_on)
