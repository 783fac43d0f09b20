"""Diagnostics of reviewdog, which comments on pull requests of many hosts."""

from __future__ import annotations

import json
from typing import Any

from inplace_lint.core.finding import Finding, Related, Severity
from inplace_lint.core.span import Span
from inplace_lint.report.model import Report
from inplace_lint.report.paths import relative
from inplace_lint.workspace.notebook import file_of, within

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def render(report: Report) -> str:
    """Return one object with all diagnostics."""
    diagnostics = [
        {
            "message": within(one.span) + one.sentence,
            "location": _location(one.span),
            "severity": _SEVERITIES[one.severity],
            "code": {"value": one.code, **({"url": address} if (address := report.page_of(one)) else {})},
            "related_locations": [_related(item) for item in one.related],
            **_suggestions(one),
        }
        for one in report.findings
    ]
    whole = {"source": {"name": "inplace-lint"}, "severity": "WARNING", "diagnostics": diagnostics}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _suggestions(finding: Finding) -> dict[str, Any]:
    """Return the edits of a fix, if all are in the file of the diagnostic: a suggestion has no file of its own."""
    fix, span = finding.fix, finding.span
    if fix is None or span.cell is not None or any(edit.span.path != span.path for edit in fix.edits):
        return {}
    return {"suggestions": [{"range": _location(edit.span)["range"], "text": edit.content} for edit in fix.edits]}


def _related(item: Related) -> dict[str, Any]:
    return {"message": within(item.span) + item.message, "location": _location(item.span)}


def _location(span: Span) -> dict[str, Any]:
    return {
        "path": relative(file_of(span)),
        "range": {
            "start": {"line": span.line, "column": span.column + 1},
            "end": {"line": span.end_line, "column": span.end_column + 1},
        },
    }
