"""JSON for programs: a list of objects with Ruff's keys, and those that only in-place findings have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inplace_lint.core.finding import Applicability, Edit, Finding, Related
from inplace_lint.core.span import Span
from inplace_lint.report.model import Report
from inplace_lint.workspace.notebook import file_of


def render(report: Report) -> str:
    """Return the list, `[]` when nothing was found; rows and columns count from 1, ends are exclusive."""
    return dumped(rows(report))


def rows(report: Report) -> list[dict[str, Any]]:
    """Return an object for each finding."""
    return [_row(finding, report) for finding in report.findings]


def dumped(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as the text of a list."""
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def lines(report: Report) -> str:
    """Return one object on each line, nothing when nothing was found."""
    return dumped_lines(rows(report))


def dumped_lines(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _row(finding: Finding, report: Report) -> dict[str, Any]:
    span = finding.span
    return {
        "cell": span.cell,
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        "filename": _filename(span),
        "location": {"row": span.line, "column": span.column + 1},
        "end_location": {"row": span.end_line, "column": span.end_column + 1},
        "fix": _fix(finding),
        "noqa_row": report.statements.get(span, (span.line, span.end_line))[1],
        "url": report.page_of(finding) or None,
        "framework": finding.framework or None,
        "related": [_related(item) for item in finding.related],
        "certainty": finding.certainty.value,
        "assumptions": list(finding.assumptions),
        "options": list(finding.options),
        "confirmed": confirmed(finding),
        "label": finding.label,
        "function": finding.function,
    }


def confirmed(finding: Finding) -> dict[str, str] | None:
    """
    Return the verdict of `--confirm`; `null` without the option, and for a finding that is opinion.

    `verdict` is `confirmed`, `refuted`, `not reached` or `could not run`; `device` `cpu` or `cuda`; `version` that of
    the framework, empty where it could not be imported; `reason` one line.
    """
    verdict = finding.verdict
    if verdict is None:
        return None
    return {
        "verdict": verdict.proof.value,
        "device": verdict.device,
        "version": verdict.version,
        "reason": verdict.reason,
    }


def _fix(finding: Finding) -> dict[str, Any] | None:
    if finding.fix is not None:
        edits = [_edit(edit, finding) for edit in finding.fix.edits]
        return {"applicability": finding.fix.applicability.value, "message": finding.fix.message, "edits": edits}
    if not finding.help:
        return None
    return {"applicability": Applicability.DISPLAY.value, "message": finding.help, "edits": []}


def _edit(edit: Edit, finding: Finding) -> dict[str, Any]:
    """Return an edit; with its file and cell where they are not those of the finding."""
    span = edit.span
    elsewhere: dict[str, Any] = {"filename": _filename(span)} if file_of(span) != file_of(finding.span) else {}
    if span.cell != finding.span.cell:
        elsewhere["cell"] = span.cell
    return {
        "content": edit.content,
        "location": {"row": span.line, "column": span.column + 1},
        "end_location": {"row": span.end_line, "column": span.end_column + 1},
        **elsewhere,
    }


def _related(item: Related) -> dict[str, Any]:
    span = item.span
    return {
        "role": item.role.value,
        "message": item.message,
        "cell": span.cell,
        "filename": _filename(span),
        "location": {"row": span.line, "column": span.column + 1},
        "end_location": {"row": span.end_line, "column": span.end_column + 1},
    }


def _filename(span: Span) -> str:
    return str(Path(file_of(span)).absolute())
