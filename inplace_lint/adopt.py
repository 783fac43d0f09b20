"""Beginning with a clean slate: what is found today is silenced by comments in the files themselves."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from inplace_lint import files, notebook, silence
from inplace_lint.errors import UnreadableError
from inplace_lint.finding import Finding
from inplace_lint.session import SYNTAX_CODE, Outcome
from inplace_lint.suppress import UNUSED_CODE

_NOT_SILENCED = frozenset({SYNTAX_CODE, UNUSED_CODE})


def add_comments(outcome: Outcome) -> tuple[int, list[str]]:
    """Write a comment for each finding of a run; give how many, and one line for each file where that failed."""
    findings = [finding for finding in outcome.findings if finding.code not in _NOT_SILENCED]
    added = 0
    troubles: list[str] = []
    for name, group in groupby(findings, key=lambda finding: notebook.file_of(finding.span)):
        try:
            done, left = _silence_file(name, list(group), outcome)
        except UnreadableError as error:
            troubles.append(f"{name}: {error}")
            continue
        added += done
        troubles.extend(f"{name}:{finding.span.line}: no line of this statement can hold a comment" for finding in left)
    return added, troubles


def _silence_file(name: str, findings: list[Finding], outcome: Outcome) -> tuple[int, tuple[Finding, ...]]:
    path = Path(name)
    before = files.read(path)
    if name in outcome.notebooks:
        msg = "no comments are added to notebooks"
        raise UnreadableError(msg)
    text, left = silence.silenced(files.decode(before), findings, outcome.statements)
    if len(left) < len(findings):
        files.replace_text(path, text, before)
    return len(findings) - len(left), left
