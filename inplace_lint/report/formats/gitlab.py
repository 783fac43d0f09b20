"""Code Quality reports of GitLab, which shows them in merge requests."""

from __future__ import annotations

import json

from inplace_lint.core.finding import Severity
from inplace_lint.report.model import Report
from inplace_lint.report.paths import GITLAB, fingerprints, relative
from inplace_lint.workspace.notebook import file_of, within

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report) -> str:
    """Return a list of objects, `[]` when nothing was found."""
    rows = [
        {
            "description": within(finding.span) + finding.sentence,
            "check_name": finding.name,
            "fingerprint": key,
            "severity": _SEVERITIES[finding.severity],
            "location": {
                "path": relative(file_of(finding.span), GITLAB),
                "positions": {
                    "begin": {"line": finding.span.line, "column": finding.span.column + 1},
                    "end": {"line": finding.span.end_line, "column": finding.span.end_column + 1},
                },
            },
        }
        for finding, key in fingerprints(report)
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
