"""
The entries of op tables as they are in their files: one object of JSON on each line.

    [*read(rules_dir() / "ops" / "torch" / "tensor.jsonl")][0]   # {"op": "torch.Tensor.__iadd__", "args": [...], ...}

Thousands are read at each start, so that what each one says is checked only where it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from inplace_lint.core.errors import FactError
from inplace_lint.knowledge import op
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.knowledge.op import Op

Row = Mapping[str, Any]
Rows = Sequence[Row]


def read(path: Path, having: str = "") -> Iterator[Row]:
    """
    Yield the entries of a file; only those whose line has a text.

    Raises: `FactError` naming the line of what is no entry of an op, or has spellings that are no texts.
    """
    for _, row in _numbered(path, having):
        yield row


def checked(path: Path, having: str = "") -> Iterator[Row]:
    """
    Yield the entries of a file as `read` does, each one checked.

    Raises: `FactError` naming the line of an entry that does not follow the format.
    """
    for number, row in _numbered(path, having):
        _check(path, number, row)
        yield row


def op_of(row: Row, name: str, files: Callable[[], Iterable[Path]]) -> Op:
    """
    Return the op of one entry under one of its spellings; the entry is from one of the `files`, or was checked before.

    Raises: `FactError` naming the file and line of an entry that does not follow the format.
    """
    try:
        return op.op_of(row, name)
    except FactError:
        for path in files():
            for number, other in _numbered(path):
                if other == row:
                    _check(path, number, row)
        raise


def by_spelling(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return entries by each spelling of their op, in their order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        for spelling in (row["op"], *row.get("same", ())):
            found.setdefault(spelling, []).append(row)
    return found


def at(path: Path, line: int, problem: str) -> FactError:
    """Return the error for a line of a file of facts."""
    return FactError(f"rules/{path.relative_to(rules_dir()).as_posix()}:{line}: {problem}")


def no_json(error: json.JSONDecodeError) -> str:
    """Return what is wrong with a text that is no JSON."""
    return f"not JSON: {error.msg} at column {error.colno}"


def _numbered(path: Path, having: str = "") -> Iterator[tuple[int, Row]]:
    decode = msgspec.json.Decoder().decode
    wanted = having.encode()
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        entry = line.strip()
        if entry and wanted in entry:
            try:
                row = decode(entry)
            except msgspec.DecodeError as error:
                raise at(path, number, _malformed(entry)) from error
            if not op.is_named(row):
                _check(path, number, row)
            yield number, row


def _check(path: Path, number: int, row: object) -> None:
    try:
        op.op_of(row)
    except FactError as error:
        raise at(path, number, str(error)) from error


def _malformed(entry: bytes) -> str:
    try:
        json.JSONDecoder().raw_decode(entry.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        return no_json(error)
    return op.ONE_ENTRY  # and something behind it
