"""
The folder of results: `NAME/findings.json` and `NAME/summary.json` for each repository.

A summary is written last: a repository that has one was checked, by this version and these settings if it says so.
"""

from __future__ import annotations

import json
from pathlib import Path

from inplace_lint.core.errors import InplaceLintError
from inplace_lint.fleet.repository import Certain, Checked
from inplace_lint.workspace.files import put_text

_FINDINGS, _SUMMARY = "findings.json", "summary.json"


def write(folder: Path, checked: Checked, key: str) -> None:
    """
    Write the results of a repository; a summary of what could not be read says no key, so that it is tried again.

    Raises: `InplaceLintError` where they cannot be written.
    """
    place = folder / checked.name
    make(place)
    put_text(place / _FINDINGS, checked.rows)
    row = {
        **checked._asdict(),
        "key": "" if checked.trouble else key,
        "certain": [one._asdict() for one in checked.certain],
    }
    del row["rows"]
    put_text(place / _SUMMARY, json.dumps(row, indent=1, ensure_ascii=False) + "\n")


def read(folder: Path, name: str, key: str) -> Checked | None:
    """Return the results of a repository without their rows, if an earlier run with this key left them."""
    place = folder / name
    try:
        row = json.loads((place / _SUMMARY).read_text(encoding="utf-8"))
        if row.pop("key") != key or not (place / _FINDINGS).is_file():
            return None
        certain = tuple(Certain(**{**one, "rank": tuple(one["rank"])}) for one in row.pop("certain"))
        return Checked(**{**row, "failures": tuple(row["failures"])}, rows="", certain=certain)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def make(folder: Path) -> None:
    """
    Make a folder.

    Raises: `InplaceLintError`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{folder}: {(error.strerror or 'error').lower()}"
        raise InplaceLintError(msg) from error
