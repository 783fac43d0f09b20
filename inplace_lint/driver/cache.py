"""
Results of earlier runs, in one JSON file for each checked path.

An entry is valid only under the same key: the bytes of the file, the op facts, the settings that change results, the
code of the tool, and the Python version. A damaged entry is a miss and never an error, and a folder that cannot be
written is left alone. The format is JSON because a cache that comes with a cloned repository must not run code.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inplace_lint.core.finding import Applicability, Certainty, Edit, Finding, Fix, Related, Role, Severity
from inplace_lint.core.span import Span

FOLDER = ".inplace_lint_cache"


@dataclass(frozen=True, slots=True)
class Entry:
    """The result of checking one file."""

    findings: tuple[Finding, ...]
    counters: Mapping[str, int]
    statements: Mapping[Span, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Cache:
    """Entries below `folder`, valid for one `context`: everything but the file itself that a result depends on."""

    folder: Path
    context: str

    def key(self, path: str, data: bytes) -> str:
        """Return the key of a file with this content at this path."""
        return hashlib.sha256(f"{self.context}\0{path}\0".encode("utf-8", "surrogateescape") + data).hexdigest()

    def get(self, path: str, key: str) -> Entry | None:
        """Return the entry of a path if it was stored under this key."""
        try:
            row = json.loads(self._place(path).read_bytes())
            return _entry_in(row) if row["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def put(self, path: str, key: str, entry: Entry) -> None:
        """Replace the entry of a path, all at once or not at all."""
        place = self._place(path)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            _mark(self.folder)
            handle, name = tempfile.mkstemp(dir=place.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump({"key": key, **_entry_out(entry)}, file, separators=(",", ":"))
                Path(name).replace(place)
            except OSError:
                Path(name).unlink(missing_ok=True)
        except OSError:
            return

    def _place(self, path: str) -> Path:
        name = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        return self.folder / name[:2] / f"{name[2:]}.json"


def context_of(facts: str, settings: Sequence[str | None]) -> str:
    """Return a digest of all that results depend on besides the files: facts, settings, this code, this Python."""
    total = hashlib.sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        total.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    total.update(json.dumps([facts, list(settings), list(sys.version_info[:3])]).encode())
    return total.hexdigest()


def _mark(folder: Path) -> None:
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("# made by inplace-lint\n*\n", encoding="utf-8")


def _entry_out(entry: Entry) -> dict[str, Any]:
    return {
        "findings": [_finding_out(finding) for finding in entry.findings],
        "counters": dict(entry.counters),
        "statements": [[_span_out(span), *lines] for span, lines in entry.statements.items()],
    }


def _entry_in(row: Any) -> Entry:  # noqa: ANN401 - the parsing edge
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
            "fix": _fix_in(row["fix"]),
            "entry": None if row["entry"] is None else (str(row["entry"][0]), str(row["entry"][1])),
        }
    )
