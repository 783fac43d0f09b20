"""
Findings that the user has seen and let stand: `# noqa` and `# noqa: IPL101, IPL102`.

A comment counts on any physical line of the statement, or of the header of a compound statement, that holds the primary
place of a finding. Comments are found by tokenizing, so that the same text inside a string means nothing.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from inplace_lint.finding import Finding
from inplace_lint.span import Span

_NOQA = re.compile(r"#\s*noqa(?![\w-])(?:\s*:\s*(?P<list>[A-Za-z][\w-]*(?:[\s,]+[A-Za-z][\w-]*)*))?", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*inplace-lint:\s*ignore(?:\[(?P<list>[^\]]*)\])?", re.IGNORECASE)
_CODE = re.compile(r"[A-Z]+[0-9]+$")


class Suppression(NamedTuple):
    """A comment that silences; no selectors silence every rule."""

    line: int
    selectors: tuple[str, ...]


def suppressions(source: str) -> tuple[Suppression, ...]:
    """Give the silencing comments of a file in order; what can no longer be tokenized is passed over."""
    lowered = source.lower()
    if "noqa" not in lowered and "inplace-lint" not in lowered:
        return ()
    found: list[Suppression] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found.extend(_of_comment(token.string, token.start[0]))
    except (tokenize.TokenError, SyntaxError):
        pass  # the comments before the place that this Python's tokenizer refuses still count
    return tuple(found)


def unsuppressed(
    findings: Sequence[Finding], source: str, statements: Mapping[Span, tuple[int, int]]
) -> tuple[Finding, ...]:
    """Give the findings that no comment silences; `statements` has the first and last line to look at for a span."""
    comments = suppressions(source)
    if not comments:
        return tuple(findings)
    return tuple(
        finding
        for finding in findings
        if not _is_silenced(finding, comments, statements.get(finding.span, (finding.span.line, finding.span.end_line)))
    )


def _of_comment(comment: str, line: int) -> list[Suppression]:
    found = []
    if (match := _NOQA.search(comment)) is not None:
        codes = _codes(re.split(r"[\s,]+", match["list"] or ""))
        if codes or not match["list"]:  # a list of anything else silences nothing
            found.append(Suppression(line, codes))
    if (match := _IGNORE.search(comment)) is not None:
        words = re.split(r"[\s,]+", (match["list"] or "").strip())
        found.append(Suppression(line, tuple(word for word in words if word)))
    return found


def _codes(words: Sequence[str]) -> tuple[str, ...]:
    """Keep the words that are codes or names of rules: of "IPL101 because" the first."""
    return tuple(word for word in words if _CODE.match(word.upper()) or "-" in word)


def _is_silenced(finding: Finding, comments: Sequence[Suppression], lines: tuple[int, int]) -> bool:
    for comment in comments:
        if lines[0] <= comment.line <= lines[1] and (
            not comment.selectors or any(_names(selector, finding) for selector in comment.selectors)
        ):
            return True
    return False


def _names(selector: str, finding: Finding) -> bool:
    return selector.upper() == finding.code or selector.lower() == finding.name
