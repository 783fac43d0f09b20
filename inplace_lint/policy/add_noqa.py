"""
Writes comments that suppress findings: `--add-noqa` and `--add-ignore`, for a team that begins to use the tool.

A comment goes to the end of the line of the finding, or to the next line of its statement where that line can have none
(it ends inside a string, or in a backslash). The rule is added to a list of the same kind that is already there.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from inplace_lint.core.finding import Finding
from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Span

_OUR_LIST = re.compile(r"#\s*inplace-lint:\s*ignore\s*\[[^\]]*[^\]\s,]", re.IGNORECASE)
_LIST = re.compile(r"#\s*noqa\s*:\s*[A-Za-z][\w-]*(?:[\s,]+[A-Za-z]+[0-9]+)*", re.IGNORECASE)


class _Lines(Struct):
    """Lines that can have no comment (`closed`), and for lines with a list of rules the end of that list (`listed`)."""

    closed: set[int] = field(default_factory=set)
    listed: dict[int, int] = field(default_factory=dict)


def silenced(
    source: str, findings: Iterable[Finding], statements: Mapping[Span, tuple[int, int]], *, ours: bool = False
) -> tuple[str, tuple[Finding, ...]]:
    """
    Return a text with a comment for each finding, and the findings whose statement has no line that can have one.

    The comment is `# noqa: CODE`, or `# inplace-lint: ignore[NAME]` if it is to be `ours`.

    Every other character, line ends included, stays as it is.
    """
    lines = list(split_lines(source))
    known = _look(source, lines, _OUR_LIST if ours else _LIST)
    codes: dict[int, set[str]] = {}
    left: list[Finding] = []
    for finding in findings:
        first, last = statements.get(finding.span, (finding.span.line, finding.span.end_line))
        open_ = [line for line in range(first, min(last, len(lines)) + 1) if line not in known.closed]
        line = next((line for line in open_ if line >= finding.span.line), open_[-1] if open_ else None)
        if line is None:
            left.append(finding)
        else:
            codes.setdefault(line, set()).add(finding.name if ours else finding.code)
    for line, new in codes.items():
        words = ", ".join(sorted(new))
        comment = f"inplace-lint: ignore[{words}]" if ours else f"noqa: {words}"
        lines[line - 1] = _with_words(lines[line - 1], words, comment, known.listed.get(line))
    return "".join(lines), tuple(left)


def _with_words(line: str, words: str, comment: str, listed: int | None) -> str:
    """Return a line with the words added to its list of rules, or with a comment where it has none."""
    if listed is not None:
        return f"{line[:listed]}, {words}{line[listed:]}"
    text = line.rstrip("\r\n")
    return f"{text.rstrip()}  # {comment}{line[len(text) :]}"


def _look(source: str, lines: Sequence[str], lists: re.Pattern[str]) -> _Lines:
    known = _Lines({number for number, line in enumerate(lines, 1) if line.rstrip("\r\n").endswith("\\")})
    starts: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source, newline=None).readline):
            name = tokenize.tok_name[token.type]
            if name == "COMMENT":
                match = lists.search(token.string)
                if match is not None:
                    known.listed[token.start[0]] = token.start[1] + match.end()
                known.closed -= {token.start[0]}  # a backslash in a comment continues nothing
            elif name == "STRING":
                known.closed |= {*range(token.start[0], token.end[0])}
            elif name.endswith("STRING_START"):
                starts.append(token.start[0])
            elif name.endswith("STRING_END") and starts:
                known.closed |= {*range(starts.pop(), token.end[0])}
    except (tokenize.TokenError, SyntaxError):
        pass  # the lines before the place that this Python cannot tokenize still count
    return known
