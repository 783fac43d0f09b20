"""The format of one line for each finding that editors and `grep` understand."""

from __future__ import annotations

from inplace_lint.core.finding import Finding
from inplace_lint.report.model import Report
from inplace_lint.report.paths import visible
from inplace_lint.report.style import Ink, level, paint


def render(report: Report) -> str:
    """Return `path:row:column: severity[CODE] message` for each finding; columns from 1."""
    return "".join(f"{_line(finding, report)}\n" for finding in report.findings)


def _line(finding: Finding, report: Report) -> str:
    span, color = finding.span, report.color
    colon = paint(":", Ink.FRAME, color=color)
    place = f"{paint(visible(span.path), Ink.BOLD, color=color)}{colon}{span.line}{colon}{span.column + 1}{colon}"
    painted = level(finding, color=color, address=report.page_of(finding) if report.links else "")
    return f"{place} {painted} {report.mark(finding)}{finding.sentence}"
