"""
Workflow commands of GitHub Actions, which shows them as annotations.

GitHub shows ten of each kind for a step: the most severe come first, and a line says how many are not shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from inplace_lint.core.finding import Finding, Severity
from inplace_lint.report.model import Report
from inplace_lint.report.paths import GITHUB, relative, visible
from inplace_lint.workspace.notebook import file_of, within

SHOWN = 10
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """Return one command for each finding, errors first, then how many GitHub does not show."""
    findings = _by_severity(report.findings)
    counts = Counter(finding.severity for finding in findings)
    lines = [_command(finding, report) for finding in findings]
    for severity in Severity:
        hidden = counts[severity] - SHOWN
        if hidden > 0:
            kind = f"{_COMMANDS[severity]}s" if hidden > 1 else _COMMANDS[severity]
            lines.append(
                report.say(f"inplace-lint: {hidden} more {kind} above that GitHub does not show as annotations")
            )
    return "".join(f"{line}\n" for line in lines)


def job_summary(report: Report) -> str:
    """Return all findings as Markdown for the page of the job, which has no limit of ten."""
    if not report.findings:
        return report.say("inplace-lint: all checks passed") + "\n"
    rows = [
        f"| `{_cell(finding.span.path)}:{finding.span.line}` | {finding.severity.value} | {finding.code} "
        f"| {_cell(finding.sentence)} |"
        for finding in _by_severity(report.findings)
    ]
    head = ["### inplace-lint", "", report.say("| where | severity | rule | what |"), "|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _cell(text: str) -> str:
    return visible(text).replace("|", "&#124;")


def _by_severity(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.severity.rank)


def _command(finding: Finding, report: Report) -> str:
    span = finding.span
    properties = {
        "title": f"inplace-lint ({finding.code})",
        "file": relative(file_of(span), GITHUB),
        "line": str(span.line),
        "col": str(span.column + 1),
        "endLine": str(span.end_line),
        "endColumn": str(span.end_column + 1),
    }
    text = f"{visible(span.path)}:{span.line}:{span.column + 1}: {finding.code} {finding.name}: {finding.sentence}"
    text = "\n".join((text, *_notes(finding, report)))
    inside = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {inside}::{_data(text)}"


def _notes(finding: Finding, report: Report) -> Iterator[str]:
    """Yield the places that take part in a finding, its cure, what it assumes, and the page of its rule."""
    for item in finding.related:
        path = relative(file_of(item.span), GITHUB)
        yield f"{visible(path)}:{item.span.line}: {within(item.span)}{item.message}"
    if finding.help:
        yield f"{report.say('help')}: {finding.help}"
    if finding.assumptions:
        yield f"{report.say('assuming')}: {report.say('; ').join(finding.assumptions)}"
    if address := report.page_of(finding):
        yield address


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
