"""Which lines changed since a commit: `--since` reports only findings in them."""

from __future__ import annotations

import difflib
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from inplace_lint.core.errors import InplaceLintError
from inplace_lint.core.finding import Finding, Role
from inplace_lint.core.span import Span
from inplace_lint.workspace import files, notebook

Ranges = Sequence[tuple[int, int]]
Changed = Mapping[str, Ranges]
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_EVERYTHING = ((1, 1 << 60),)


class SinceError(InplaceLintError):
    """Git cannot say what changed."""


def changed_lines(ref: str) -> Changed:
    """
    Return, for each file, the lines that differ between the working tree and the merge base with `ref`.

    Paths are relative to the current folder. Of untracked files that git does not ignore all lines count.
    Units: lines from 1, both ends included.
    Raises: `SinceError` where there is no git, no repository, no such commit or no history in common.
    """
    top = Path(_git("rev-parse", "--show-toplevel").strip())
    if ref.startswith("-") or _git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", allowed=(0, 1)) == "":
        msg = f"--since {ref}: no such commit; in a shallow clone, fetch it first (git fetch origin {ref})"
        raise SinceError(msg)
    base = _git("merge-base", ref, "HEAD", allowed=(0, 1)).strip()
    if not base:
        msg = f"--since {ref}: no history in common with HEAD; in a shallow clone, fetch more (git fetch --unshallow)"
        raise SinceError(msg)
    options = ("--no-color", "--no-ext-diff", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "--unified=0")
    diff = _git("-c", "core.quotePath=false", "-C", str(top), "diff", *options, base, "--")
    found: dict[str, Ranges] = {files.shown(top / name): ranges for name, ranges in _hunks(diff).items()}
    new = _git("-C", str(top), "ls-files", "-z", "--others", "--exclude-standard")
    found.update({files.shown(top / name): _EVERYTHING for name in new.split("\0") if name})
    return found


def moved(changed: Changed, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Changed:
    """Return the changed lines after the texts that git compared were replaced by new ones."""
    return {
        **changed,
        **{path: tuple(_shifted(changed.get(path, ()), old[path], new[path])) for path in new if path in old},
    }


def _shifted(ranges: Ranges, old: bytes, new: bytes) -> Iterator[tuple[int, int]]:
    """Yield the changed lines of an old text by their numbers in a new one, and the lines in which the two differ."""
    matched = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    for kind, since, until, start, stop in matched.get_opcodes():
        if kind != "equal":
            yield start + 1, stop
            continue
        for first, last in ranges:
            begin, end = max(first, since + 1), min(last, until)
            if begin <= end:
                yield begin - since + start, end - since + start


def in_changed_lines(finding: Finding, changed: Changed) -> bool:
    """Check whether the write or a save of a finding is in changed lines; a notebook counts as a whole."""
    spans = [finding.span, *(one.span for one in finding.related if one.role in {Role.SAVE, Role.WRITE})]
    return any(_is_changed(span, changed) for span in spans)


def _is_changed(span: Span, changed: Changed) -> bool:
    ranges = changed.get(files.shown(Path(notebook.file_of(span))), ())
    if span.cell is not None:
        return bool(ranges)
    return any(span.line <= last and first <= span.end_line for first, last in ranges)


def _hunks(diff: str) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    name = ""
    heads = True
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            heads = True
        elif heads and line.startswith("+++ "):
            name = line[6:].rstrip("\t") if line.startswith("+++ b/") else ""
        elif (match := _HUNK.match(line)) is not None:
            heads = False
            first, count = int(match[1]), int(match[2] or 1)
            if name and count:
                found.setdefault(name, []).append((first, first + count - 1))
    return found


def _git(*words: str, allowed: tuple[int, ...] = (0,)) -> str:
    try:
        ran = subprocess.run(["git", *words], capture_output=True, check=False)  # noqa: S603, S607 - the user's own git
    except OSError as error:
        msg = "--since: git was not found"
        raise SinceError(msg) from error
    if ran.returncode not in allowed:
        reason = ran.stderr.decode("utf-8", "replace").strip().partition("\n")[0] or f"git {words[0]} failed"
        msg = f"--since: {reason.removeprefix('fatal: ')}"
        raise SinceError(msg)
    return ran.stdout.decode("utf-8", "surrogateescape")
