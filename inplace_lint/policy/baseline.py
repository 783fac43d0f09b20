"""
Baselines: a file of findings that a team has accepted for now.

An entry matches by rule, file, enclosing function and the text of the write, not by line, so that it stays valid when
lines move. It accepts as many findings as its count says.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from inplace_lint.core.errors import ConfigError, InplaceLintError, UnreadableError
from inplace_lint.core.finding import Finding
from inplace_lint.driver.session import Outcome
from inplace_lint.workspace import files, notebook

_VERSION = 1
_FIELDS = ("rule", "path", "function", "content")


class Key(NamedTuple):
    """What an entry matches by; `path` is relative to the folder of the baseline, with forward slashes."""

    rule: str
    path: str
    function: str
    content: str


class Applied(NamedTuple):
    """The findings that no entry accepts, how many are accepted, and the entries that match nothing any more."""

    left: tuple[Finding, ...]
    known: int
    stale: tuple[Key, ...]


def read(path: Path) -> Counter[Key]:
    """
    Return how many findings each entry of a baseline accepts.

    Raises: `ConfigError` naming the file, and the entry at fault.
    """
    try:
        data = json.loads(files.read(path))
    except UnreadableError as error:
        msg = f"{path}: {error}"
        raise ConfigError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"{path}: not valid JSON: {error}"
        raise ConfigError(msg) from error
    entries = data.get("findings") if isinstance(data, dict) and data.get("version") == _VERSION else None
    if not isinstance(entries, list):
        msg = f"{path}: not a baseline of version {_VERSION}: write it with --write-baseline"
        raise ConfigError(msg)
    known: Counter[Key] = Counter()
    for number, entry in enumerate(entries, 1):
        known[_key(path, number, entry)] += entry.get("count", 1)
    return known


def write(path: Path, entries: Mapping[Key, int]) -> None:
    """
    Write the entries to a file as a whole, in order.

    Raises: `InplaceLintError` naming the file when it cannot be written.
    """
    rows = [{**key._asdict(), "count": count} for key, count in sorted(entries.items()) if count > 0]
    text = json.dumps({"version": _VERSION, "findings": rows}, indent=1, ensure_ascii=False) + "\n"
    try:
        files.put(path, text.encode("utf-8", "backslashreplace"))  # a name that is no Unicode is an escape of JSON
    except UnreadableError as error:
        msg = f"{path}: {error}"
        raise InplaceLintError(msg) from error


def entries_of(findings: Iterable[Finding], folder: Path, texts: Mapping[str, bytes]) -> Counter[Key]:
    """Return the entries that accept all these findings."""
    lines = files.Sources(texts)
    return Counter(_key_of(finding, folder, lines) for finding in findings)


def apply(outcome: Outcome, known: Mapping[Key, int], folder: Path, texts: Mapping[str, bytes]) -> Applied:
    """Separate the findings that entries accept; the entries of files that were not checked are not stale."""
    lines = files.Sources(texts)
    open_ = Counter(known)
    left: list[Finding] = []
    for finding in outcome.findings:
        key = _key_of(finding, folder, lines)
        if open_[key] > 0:
            open_[key] -= 1
        else:
            left.append(finding)
    stale = tuple(sorted(key for key, count in open_.items() if count > 0 and _was_checked(key, folder, outcome)))
    return Applied(tuple(left), len(outcome.findings) - len(left), stale)


def merged(known: Mapping[Key, int], found: Mapping[Key, int], folder: Path, outcome: Outcome) -> Counter[Key]:
    """Return the entries of a new baseline: the findings, and the old entries of files that were not checked."""
    kept = {key: count for key, count in known.items() if not _was_checked(key, folder, outcome)}
    return Counter({**kept, **found})


def pruned(known: Mapping[Key, int], found: Mapping[Key, int], folder: Path, outcome: Outcome) -> Counter[Key]:
    """Return the entries without those that match nothing any more."""
    return Counter(
        {
            key: min(count, found.get(key, 0)) if _was_checked(key, folder, outcome) else count
            for key, count in known.items()
        }
    )


def notes_of(stale: Sequence[Key], name: str) -> list[str]:
    """Return a line for each entry that matches nothing any more."""
    return [f"{name}: nothing matches {key.rule} in {key.path}{_inside(key)} any more" for key in stale]


def _inside(key: Key) -> str:
    return f", `{key.function}`" if key.function else ""


def _key(path: Path, number: int, entry: Any) -> Key:  # noqa: ANN401 - parsed here
    count = entry.get("count", 1) if isinstance(entry, dict) else 0
    words = [entry.get(name) for name in _FIELDS] if isinstance(entry, dict) else []
    if not words or not all(isinstance(word, str) for word in words) or not isinstance(count, int) or count < 1:
        msg = f"{path}: entry {number} lacks one of {', '.join(_FIELDS)}, or its count is not a positive whole number"
        raise ConfigError(msg)
    return Key(*map(str, words))


def _key_of(finding: Finding, folder: Path, lines: files.Sources) -> Key:
    content = " ".join(finding.span.cut(lines.lines(finding.span.path)))
    path = _relative(notebook.file_of(finding.span), folder)
    return Key(finding.code, path, finding.function, " ".join(content.split()))


def _relative(name: str, folder: Path) -> str:
    return Path(os.path.relpath(Path(name).absolute(), folder.absolute())).as_posix()


def _was_checked(key: Key, folder: Path, outcome: Outcome) -> bool:
    place = folder / key.path
    return files.shown(place) in outcome.requested or not place.exists()
