"""Formats of one line for each finding: grouped for people, pylint and Azure for other programs."""

from __future__ import annotations

from itertools import groupby

from inplace_lint.core.finding import Severity
from inplace_lint.report.model import Report
from inplace_lint.report.paths import relative, visible
from inplace_lint.workspace.notebook import file_of, within


def grouped(report: Report) -> str:
    """Return the findings of each file under its name, with rows and columns in line."""
    blocks = []
    for path, findings in groupby(report.findings, key=lambda finding: finding.span.path):
        rows = [
            (f"{one.span.line}:{one.span.column + 1}", one.severity.value, one.code, report.mark(one) + one.sentence)
            for one in findings
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [f"  {a:>{widths[0]}} {b:<{widths[1]}} {c:<{widths[2]}} {text}" for a, b, c, text in rows]
        blocks.append("\n".join([f"{visible(path)}:", *lines]) + "\n\n")
    return "".join(blocks)


def pylint(report: Report) -> str:
    """Return lines in the form of pylint, which many editors read."""
    return "".join(
        f"{visible(relative(one.span.path))}:{one.span.line}: [{one.code}] {one.sentence}\n" for one in report.findings
    )


def azure(report: Report) -> str:
    """Return logging commands of Azure Pipelines; it knows errors and warnings."""
    lines = []
    for one in report.findings:
        kind = "error" if one.severity is Severity.ERROR else "warning"
        span = one.span
        place = f"sourcepath={_escaped(file_of(span))};linenumber={span.line};columnnumber={span.column + 1}"
        text = _escaped(within(span) + one.sentence)
        lines.append(f"##vso[task.logissue type={kind};{place};code={one.code};]{text}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    pairs = (("%", "%AZP25"), ("\r", "%0D"), ("\n", "%0A"), (";", "%3B"), ("]", "%5D"))
    for char, code in pairs:
        text = text.replace(char, code)
    return text
