"""
Comments that suppress findings: `# noqa`, `# noqa: IPL101, IPL102` and `# inplace-lint: ignore[leaf-write]`.

A comment applies on any physical line of the statement, or of the header of a compound statement, that has the primary
place of a finding. Comments are found by tokenizing, so that the same text inside a string has no effect.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.core.finding import Certainty, Finding, Severity
from inplace_lint.core.span import Span
from inplace_lint.rules.text import UNUSED_SUPPRESSION

_NOQA = re.compile(r"#\s*noqa(?![\w-])(?:\s*:\s*(?P<list>[A-Za-z][\w-]*(?:[\s,]+[A-Za-z][\w-]*)*))?", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*inplace-lint:\s*ignore(?![\w-])(?:\s*\[(?:(?P<list>[^\]]*)\]|(?P<open>.*)))?", re.IGNORECASE)
_CODE = re.compile(r"[A-Z]+[0-9]+$|IPL[0-9]")  # a word that starts like one of our codes was meant as one
_OURS = re.compile(rb"noqa[^\n]*(?:IPL|-)|inplace-lint:", re.IGNORECASE)


def may_name_us(data: bytes, others: Collection[str] = ()) -> bool:
    """Check quickly whether a file may have a comment that suppresses a rule of ours or one of others; most do not."""
    if not (b"noqa" in data or b"NOQA" in data or b"inplace-lint" in data):
        return False
    return _OURS.search(data) is not None or any(code.encode() in data for code in others)


class Suppression(Struct, frozen=True):
    """
    A comment that suppresses findings of its selectors, or of every rule if it has none.

    `ours`: it is addressed to this tool alone. `broken`: its list has no end, and it suppresses nothing.
    """

    line: int
    selectors: tuple[str, ...]
    ours: bool = False
    broken: bool = False
    column: int = 0
    end_column: int = 0


def suppressions(source: str) -> tuple[Suppression, ...]:
    """Return the suppressing comments of a file in order, up to where it can be tokenized."""
    lowered = source.lower()
    if "noqa" not in lowered and "inplace-lint" not in lowered:
        return ()
    found: list[Suppression] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source, newline=None).readline):
            if token.type == tokenize.COMMENT:
                found.extend(_of_comment(token.string, *token.start))
    except (tokenize.TokenError, SyntaxError):
        pass  # the comments before the place that this Python cannot tokenize still count
    return tuple(found)


def unsuppressed(
    findings: Sequence[Finding], source: str, statements: Mapping[Span, tuple[int, int]]
) -> tuple[Finding, ...]:
    """Return the findings that no comment suppresses; `statements` has the first and last line for the span of each."""
    comments = suppressions(source)
    if not comments:
        return tuple(findings)
    return tuple(finding for finding in findings if not _is_silenced(finding, comments, statements))


def unused(
    findings: Sequence[Finding],
    source: str,
    statements: Mapping[Span, tuple[int, int]],
    path: str,
    codes: Mapping[str, str],
    *,
    known: Collection[str],
    every: bool,
) -> list[Finding]:
    """
    Return a finding for each comment that names enabled rules and suppresses nothing; `codes` are theirs by name.

    A comment of ours that names no rule is reported only where `every` rule is enabled. A word that is no rule is
    always reported: `known` are the codes and names of all rules.
    """
    found = []
    for comment in suppressions(source):
        if comment.broken:
            found.append(_told(comment, "this comment has no `]`, and suppresses nothing", "close the list", path))
            continue
        found.extend(
            _told(comment, f"`{word}` is not a rule, and suppresses nothing", "use a full code or name", path)
            for word in comment.selectors
            if word.lower() not in known and (comment.ours or word.upper().startswith("IPL"))
        )
        words = [word for word in comment.selectors if word.upper() in codes.values() or word.lower() in codes]
        if not words and not (every and comment.ours and not comment.selectors):
            continue
        idle = []
        for word in words or [""]:
            alone = replace(comment, selectors=(word,) if word else ())
            if not any(_is_silenced(finding, (alone,), statements) for finding in findings):
                idle.append(word)
        if idle:
            what = ", ".join(f"`{word}`" for word in idle if word) or "this comment"
            message = f"{what} suppress nothing here" if len(idle) > 1 else f"{what} suppresses nothing here"
            partly = len(idle) < len(comment.selectors)
            found.append(_told(comment, message, f"remove {what} from the list" if partly else "remove it", path))
    return found


def _told(comment: Suppression, message: str, cure: str, path: str) -> Finding:
    return Finding(
        code=UNUSED_SUPPRESSION.code,
        name=UNUSED_SUPPRESSION.name,
        severity=Severity.WARNING,
        certainty=Certainty.ALWAYS,
        message=message,
        span=Span(path, comment.line, comment.column, comment.line, comment.end_column),
        label="unused",
        help=cure,
    )


def _of_comment(comment: str, line: int, column: int) -> list[Suppression]:
    found = []
    if (match := _NOQA.search(comment)) is not None:
        codes = _codes(re.split(r"[\s,]+", match["list"] or ""))
        if codes or not match["list"]:  # a list without any code or name suppresses nothing
            found.append(Suppression(line, codes, False, False, column + match.start(), column + match.end()))
    if (match := _IGNORE.search(comment)) is not None:
        words = re.split(r"[\s,]+", (match["list"] or "").strip())
        selectors = tuple(word for word in words if word)
        is_broken = match["open"] is not None
        found.append(Suppression(line, selectors, True, is_broken, column + match.start(), column + match.end()))
    return found


def _codes(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words that look like codes or names of rules: of "IPL101 because" the first."""
    return tuple(word for word in words if _CODE.match(word.upper()) or "-" in word)


def _is_silenced(finding: Finding, comments: Sequence[Suppression], statements: Mapping[Span, tuple[int, int]]) -> bool:
    lines = statements.get(finding.span, (finding.span.line, finding.span.end_line))
    for comment in comments:
        if (
            not comment.broken
            and lines[0] <= comment.line <= lines[1]
            and (not comment.selectors or any(_names(selector, finding) for selector in comment.selectors))
        ):
            return True
    return False


def _names(selector: str, finding: Finding) -> bool:
    return selector.upper() == finding.code or selector.lower() == finding.name
