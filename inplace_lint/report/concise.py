"""One line a finding, in the form that editors and `grep` know."""

from __future__ import annotations

from inplace_lint.finding import Finding
from inplace_lint.report.model import Report
from inplace_lint.report.paint import SEVERITY, Ink, paint


def render(report: Report) -> str:
    """Give `path:row:column: severity[CODE] message` for each finding; columns from 1."""
    return "".join(f"{_line(finding, color=report.color)}\n" for finding in report.findings)


def _line(finding: Finding, *, color: bool) -> str:
    span = finding.span
    colon = paint(":", Ink.FRAME, color=color)
    place = f"{paint(span.path, Ink.BOLD, color=color)}{colon}{span.line}{colon}{span.column + 1}{colon}"
    level = paint(f"{finding.severity.value}[{finding.code}]", SEVERITY[finding.severity], color=color)
    return f"{place} {level} {finding.sentence}"
