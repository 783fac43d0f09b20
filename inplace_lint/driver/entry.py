"""
The result of checking one file, and its form in the store.

That form is JSON, because a cache that comes with a cloned repository must not run code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inplace_lint.core.finding import Applicability, Asks, Certainty, Edit, Finding, Fix, Related, Role, Severity
from inplace_lint.core.span import Span


@dataclass(frozen=True, slots=True)
class Entry:
    """The result of checking one file."""

    findings: tuple[Finding, ...]
    counters: Mapping[str, int]
    statements: Mapping[Span, tuple[int, int]]

    @property
    def paths(self) -> frozenset[str]:
        """The files that findings name, and in which they are mended."""
        spans = {span for one in self.findings for span in (one.span, *(item.span for item in one.related))}
        edits = {edit.span for one in self.findings if one.fix is not None for edit in one.fix.edits}
        return frozenset(span.path for span in spans | edits)


def entry_out(entry: Entry) -> dict[str, Any]:
    """Return the form of a result in the store."""
    return {
        "findings": [_finding_out(finding) for finding in entry.findings],
        "counters": dict(entry.counters),
        "statements": [[_span_out(span), *lines] for span, lines in entry.statements.items()],
    }


def entry_in(row: Any) -> Entry:  # noqa: ANN401 - the parsing edge
    """
    Return the result of a form.

    Raises: ValueError, KeyError, TypeError or AttributeError for what is none.
    """
    return Entry(
        tuple(_finding_in(finding) for finding in row["findings"]),
        {str(name): int(count) for name, count in row["counters"].items()},
        {_span_in(span): (int(first), int(last)) for span, first, last in row["statements"]},
    )


def _span_out(span: Span) -> list[Any]:
    ends = (span.line, span.column, span.end_line, span.end_column, span.start_byte, span.end_byte)
    return [span.path, *ends, span.cell]


def _span_in(row: Sequence[Any]) -> Span:
    path, *ends, cell = row
    first, column, last, end_column, start, end = (int(number) for number in ends)
    return Span(str(path), first, column, last, end_column, start, end, cell)


def _finding_out(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "certainty": finding.certainty.value,
        "message": finding.message,
        "span": _span_out(finding.span),
        "label": finding.label,
        "related": [[item.role.value, _span_out(item.span), item.message] for item in finding.related],
        "more": finding.more,
        "symbol": finding.symbol,
        "op": finding.op,
        "function": finding.function,
        "framework": finding.framework,
        "assumptions": list(finding.assumptions),
        "help": finding.help,
        "says": finding.says,
        "fix": _fix_out(finding.fix),
        "entry": finding.entry,
        "gain": finding.gain,
        "options": list(finding.options),
    }


def _fix_out(fix: Fix | None) -> list[Any] | None:
    if fix is None:
        return None
    edits = [[_span_out(edit.span), edit.content] for edit in fix.edits]
    return [fix.applicability.value, fix.message, edits]


def _fix_in(row: Sequence[Any] | None) -> Fix | None:
    if row is None:
        return None
    applicability, message, edits = row
    return Fix(
        Applicability(applicability), str(message), tuple(Edit(_span_in(span), str(content)) for span, content in edits)
    )


def _finding_in(row: dict[str, Any]) -> Finding:
    related = tuple(Related(Role(role), _span_in(span), str(text)) for role, span, text in row["related"])
    return Finding(
        **{
            **row,
            "severity": Severity(row["severity"]),
            "certainty": Certainty(row["certainty"]),
            "span": _span_in(row["span"]),
            "related": related,
            "assumptions": tuple(row["assumptions"]),
            "options": tuple(row["options"]),
            "fix": _fix_in(row["fix"]),
            "entry": None if row["entry"] is None else _asks_in(*row["entry"]),
        }
    )


def _asks_in(path: str, name: str | None, given: Sequence[Sequence[str]]) -> Asks:
    return Asks(path, name, tuple((str(file), str(function), str(param)) for file, function, param in given))
