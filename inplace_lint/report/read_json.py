"""Reads the JSON that the tool writes, checks it, and joins the findings of several runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from inplace_lint.config.schema import choice_of, count_of
from inplace_lint.core.errors import InplaceLintError
from inplace_lint.core.finding import (
    Applicability,
    Certainty,
    Edit,
    Finding,
    Fix,
    Proof,
    Related,
    Role,
    Severity,
    Verdict,
)
from inplace_lint.core.span import Span
from inplace_lint.workspace import files
from inplace_lint.workspace.notebook import named

Row = Mapping[str, Any]
_Word = TypeVar("_Word", bound=Enum)


def read(path: Path) -> list[tuple[Row, Finding]]:
    """
    Return the rows of a file in JSON or JSON lines, each with its finding; keys that are not known stay in the row.

    Raises: `InplaceLintError` with the file, the number of the finding and the key at fault.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: {(getattr(error, 'strerror', None) or 'not UTF-8').lower()}"
        raise InplaceLintError(msg) from error
    found: list[tuple[Row, Finding]] = []
    for number, row in enumerate(_rows(path, text), 1):
        try:
            found.append((row, finding_of(row)))
        except ValueError as error:
            msg = f"{path}: finding {number}: {error}"
            raise InplaceLintError(msg) from error
    return found


def joined(several: Iterable[Sequence[tuple[Row, Finding]]]) -> list[tuple[Row, Finding]]:
    """Return the findings of several runs in the order of one run: one for each rule and place, the surest."""
    best: dict[tuple[Span, str], tuple[Row, Finding]] = {}
    for row, finding in (pair for pairs in several for pair in pairs):
        key = finding.span, finding.code
        other = best.get(key)
        if other is None or _doubt(finding) < _doubt(other[1]):
            best[key] = row, finding
    return sorted(best.values(), key=lambda pair: _order(pair[1]))


def _doubt(finding: Finding) -> tuple[tuple[int, int, int], int, str]:
    return finding.doubt, -len(finding.related), finding.message


def _order(finding: Finding) -> tuple[str, int, Span, str]:
    span = finding.span
    return span.path.removesuffix(f":cell {span.cell}"), span.cell or 0, span, finding.code


def _rows(path: Path, text: str) -> list[Any]:
    try:
        try:
            whole = json.loads(text) if text.strip() else []
        except json.JSONDecodeError:
            whole = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        msg = f"{path}: not valid JSON: {error}"
        raise InplaceLintError(msg) from error
    if isinstance(whole, dict) and "code" in whole:
        return [whole]  # JSON lines with one line
    if not isinstance(whole, list):
        msg = f"{path}: no list of findings, as `--output-format json` writes it"
        raise InplaceLintError(msg)
    return whole


def finding_of(value: object) -> Finding:
    """
    Return the finding of a row.

    Raises: `ValueError` with the key at fault.
    """
    row = _object(value)
    fix = _fix(row)
    cure = "" if fix is None else fix.message
    return Finding(
        code=_text(row, "code"),
        name=_text(row, "name"),
        severity=_word(row, "severity", Severity),
        certainty=_word(row, "certainty", Certainty),
        message=_text(row, "message"),
        span=_span(row),
        label=_text(row, "label", "written here"),
        related=tuple(_related(item) for item in _list(row, "related")),
        function=_text(row, "function", ""),
        framework=_text(row, "framework", ""),
        assumptions=tuple(str(sentence) for sentence in _list(row, "assumptions")),
        options=tuple(str(option) for option in _list(row, "options")),
        help=cure,
        fix=fix if fix is not None and fix.edits else None,
        verdict=_verdict(row),
    )


def _fix(row: Row) -> Fix | None:
    if row.get("fix") is None:
        return None
    fix = _object(row["fix"])
    inherited = {"filename": row["filename"], "cell": row.get("cell")}
    edits = [{**inherited, **_object(edit)} for edit in _list(fix, "edits")]
    found = tuple(Edit(_span(edit), _text(edit, "content")) for edit in edits)
    return Fix(_word(fix, "applicability", Applicability), _text(fix, "message"), found)


def _verdict(row: Row) -> Verdict | None:
    if row.get("confirmed") is None:
        return None
    found = _object(row["confirmed"])
    version, device, reason = (_text(found, key) for key in ("version", "device", "reason"))
    return Verdict(_word(found, "verdict", Proof), _text(row, "framework", ""), version, device, reason)


def _related(row: object) -> Related:
    item = _object(row)
    return Related(_word(item, "role", Role), _span(item), _text(item, "message"))


def _span(row: Row) -> Span:
    path, cell = files.shown(Path(_text(row, "filename"))), row.get("cell")
    if cell is not None:
        cell = _count(row, "cell")
        path = named(path, cell)
    start, end = _object(row.get("location")), _object(row.get("end_location"))
    columns = _count(start, "column") - 1, _count(end, "column") - 1
    return Span(path, _count(start, "row"), columns[0], _count(end, "row"), columns[1], cell=cell)


def _object(value: object) -> Row:
    if isinstance(value, dict):
        return value
    msg = f"must be an object, not {json.dumps(value)}"
    raise ValueError(msg)


def _list(row: Row, key: str) -> list[Any]:
    value = row.get(key, [])
    if isinstance(value, list):
        return value
    msg = f"{key!r} must be a list, not {json.dumps(value)}"
    raise ValueError(msg)


def _text(row: Row, key: str, default: str | None = None) -> str:
    value = row.get(key)
    value = default if value is None else value
    if isinstance(value, str):
        return value
    msg = f"{key!r} must be a string, not {json.dumps(value)}"
    raise ValueError(msg)


def _count(row: Row, key: str) -> int:
    try:
        return count_of(row.get(key))
    except ValueError as error:
        msg = f"{key!r} {error}"
        raise ValueError(msg) from error


def _word(row: Row, key: str, kind: type[_Word]) -> _Word:
    try:
        return kind(choice_of(_text(row, key), tuple(str(word.value) for word in kind)))
    except ValueError as error:
        text = str(error)
        raise ValueError(text if text.startswith(repr(key)) else f"{key!r} {text}") from error
