"""`inplace-lint fleet`: checks many repositories, with one folder of results for each."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inplace_lint.cli import CLEAN, FAILED, FOUND, shared_options, streams, terminal
from inplace_lint.cli.machines.executor import executor_of
from inplace_lint.cli.options import resolver_of

if TYPE_CHECKING:
    from inplace_lint.fleet.repository import Checked


@click.command(short_help="Check many repositories.")
@click.argument("listing", type=click.Path(path_type=Path), metavar="LIST")
@click.option("-o", "--output-dir", type=click.Path(path_type=Path), default=Path("fleet"), metavar="DIR",
              help="The folder of results; default fleet.")  # fmt: skip
@shared_options.selectors
@shared_options.versions
@shared_options.config
@shared_options.jobs
@shared_options.executor_options
@shared_options.lang
@shared_options.exit_options
def fleet(
    listing: Path, output_dir: Path, jobs: int | None, executor: str, ray_address: str | None, **options: Any,  # noqa: ANN401
) -> int:  # fmt: skip
    """
    Check the repositories in LIST: folders, archives, wheels or URLs of Git, one a line.

    Each has a folder of results; one that was checked already is not checked again. Configuration files in the
    repositories are not read.
    """
    from inplace_lint.driver.executors.executor import cpus  # noqa: PLC0415 - wrong options answer at once
    from inplace_lint.driver.executors.local import LocalProcesses  # noqa: PLC0415
    from inplace_lint.fleet import report, run  # noqa: PLC0415
    from inplace_lint.fleet.listing import listed  # noqa: PLC0415
    from inplace_lint.report.i18n import language, sayer  # noqa: PLC0415
    from inplace_lint.workspace.files import put_text  # noqa: PLC0415

    zero, lang = options.pop("exit_zero"), language(options.pop("lang"), stream=sys.stdout)
    least = options.pop("fail_on") or "warning"
    resolver = resolver_of(options)
    where = executor_of(executor, ray_address, jobs or 0) or LocalProcesses(jobs or cpus())
    results = run.check_all(listed(listing), output_dir, resolver, where, terminal.progress())
    table = report.rows(results, sayer(lang))
    put_text(output_dir / "report.html", report.page(table, results, lang, sayer(lang)))
    streams.write(sys.stdout, report.text(table))
    return _status(results, least, lang, zero=zero)


def _status(results: Sequence[Checked], least: str, lang: str, *, zero: bool) -> int:
    """Report on stderr what could not be checked, and return the exit status."""
    from inplace_lint.core.finding import Severity  # noqa: PLC0415

    for one in results:
        for line in [one.trouble] if one.trouble else one.failures:
            terminal.report_error((f"{one.name}: {line}",), lang)
    if any(one.trouble or one.failures for one in results):
        return FAILED
    found = {Severity(word).rank for one in results for word in one.severities}
    return FOUND if not zero and any(rank <= Severity(least).rank for rank in found) else CLEAN
