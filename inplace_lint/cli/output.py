"""Writes the report of a run, and computes the exit status."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from inplace_lint.cli import CLEAN, FAILED, FOUND, streams, terminal
from inplace_lint.config.settings import FOR_PEOPLE, Settings
from inplace_lint.core.finding import Severity
from inplace_lint.driver.session import Outcome
from inplace_lint.report.formats.github import job_summary
from inplace_lint.report.i18n import in_language, language
from inplace_lint.report.model import Report
from inplace_lint.report.reporters import REPORTERS
from inplace_lint.report.summary import NOTHING, Counts, fixable, statistics, summary
from inplace_lint.report.text_width import width_of, wrapped
from inplace_lint.workspace.files import Sources, put_text

if TYPE_CHECKING:
    from inplace_lint.fix.apply.command import FixRun


def write(
    outcome: Outcome,
    settings: Settings,
    output_file: Path | None,
    texts: dict[str, bytes],
    fixes: FixRun | None,
    *,
    nothing: str = NOTHING,
) -> None:
    """Write the report of a run to stdout or a file, and the summary of a GitHub job."""
    color = terminal.wants_color(settings.color, is_file=output_file is not None)
    width = terminal.PLAIN_WIDTH if output_file is not None else terminal.width()
    for book in outcome.notebooks.values():
        texts |= book.texts()
    links = output_file is None and color and terminal.shows_links()
    stream = sys.stdout if output_file is None else None
    is_for_people = settings.output_format in FOR_PEOPLE
    lang, unsafe = language(settings.lang, for_people=is_for_people, stream=stream), settings.unsafe_fixes
    report = Report(outcome.findings, Sources(texts).lines, outcome.statements, width, color, links, unsafe)
    report = in_language(report, lang)
    text = REPORTERS[settings.output_format](report)
    if settings.output_format == "github" and (place := os.environ.get("GITHUB_STEP_SUMMARY")):
        put_text(Path(place), job_summary(report), end=True)
    if is_for_people:
        ending = _ending(outcome, report, fixes, nothing)
        shown = fixes.shown(report.say) if fixes is not None else ""
        text += shown + (_broken(ending, width) if stream is not None and stream.isatty() else ending)
    if settings.statistics:
        numbers = statistics(outcome.findings, outcome.counters, outcome.seconds, report.say)
        if is_for_people:
            text += "\n" + numbers
        else:
            streams.write(sys.stderr, numbers)  # stdout is for a program
    if output_file is None:
        streams.write(sys.stdout if fixes is None else fixes.out, text)
    else:
        put_text(output_file, text)


def _ending(outcome: Outcome, report: Report, fixes: FixRun | None, nothing: str) -> str:
    """Return the last lines: what was found, or `nothing`, and what can be fixed."""
    fixed = () if fixes is None else tuple(fixes.fixed)
    known = sum(outcome.hidden.values())
    counts = Counts(len(outcome.failures), known, fixed, outcome.assumed, outcome.set_aside, nothing)
    line = summary(outcome.findings, counts, report.say, color=report.color)
    return f"{line}\n{fixable(outcome.findings, report.say, unsafe=report.unsafe)}"


def _broken(text: str, width: int) -> str:
    """Break lines between words where the terminal ends; what fits stays as it is."""
    lines = [wrapped(line, width, width) if width_of(line) > width else [line] for line in text.splitlines()]
    return "".join(f"{piece}\n" for pieces in lines for piece in pieces)


def exit_status(outcome: Outcome, lang: str | None, *, exit_zero: bool, fail_on: str = "warning") -> int:
    """
    Report on stderr what could not be checked, and return the exit status.

    Findings count from the severity `fail_on`.
    """
    for line in (*outcome.failures, *outcome.notes):
        terminal.report_error((line,), lang)
    if outcome.failures:
        return FAILED
    counts = any(finding.severity.rank <= Severity(fail_on).rank for finding in outcome.findings)
    return FOUND if counts and not exit_zero else CLEAN
