"""What several machine formats have in common: relative addresses and fingerprints that survive moved lines."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from inplace_lint.core.finding import Finding
from inplace_lint.report.model import Report

GITHUB, GITLAB = "GITHUB_WORKSPACE", "CI_PROJECT_DIR"


def relative(path: str, checkout: str = "") -> str:
    """
    Return a path relative to the current folder with slashes; one outside of it unchanged.

    `checkout` is the environment variable in which a build system has the root of the repository: paths are relative to
    that, also where the tool runs in a folder below it.
    """
    top = Path(os.environ.get(checkout) or ".").resolve()
    place = Path(path).resolve()
    for folder in (top, Path.cwd().resolve()):
        if place.is_relative_to(folder):
            return place.relative_to(folder).as_posix()
    return Path(path).as_posix()


def uri(path: str) -> str:
    """Return a path as a relative reference, its odd characters escaped."""
    return quote(relative(path, GITHUB).encode("utf-8", "surrogateescape"))


def visible(path: str) -> str:
    """Return a path with line breaks and control characters escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in path)


def fingerprints(report: Report) -> Iterator[tuple[Finding, str]]:
    """
    Yield each finding with a fingerprint of its rule, file, function and text, and not of its line.

    Equal findings are numbered, so that none hides another.
    """
    seen: Counter[str] = Counter()
    for finding in report.findings:
        lines = report.lines_of(finding.span.path)
        line = finding.span.line - 1
        text = lines[line].strip() if 0 <= line < len(lines) else ""
        parts = (finding.code, relative(finding.span.path), finding.function, text)
        key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[key] += 1
        yield finding, key if seen[key] == 1 else f"{key}:{seen[key]}"
