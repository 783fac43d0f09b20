"""The format for people: each finding with snippets of the code, the cure, and what the framework prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inplace_lint.core.finding import Finding
from inplace_lint.core.span import Span
from inplace_lint.report.model import Report
from inplace_lint.report.paths import visible
from inplace_lint.report.snippet import Mark, snippet
from inplace_lint.report.style import SEVERITY, Ink, level, paint
from inplace_lint.report.text_width import width_of, wrapped


def render(report: Report) -> str:
    """Return all findings, an empty line after each."""
    return "".join(f"{line}\n" for finding in report.findings for line in (*_finding(finding, report), ""))


def _finding(finding: Finding, report: Report) -> Iterator[str]:
    color = report.color
    gutter = len(str(max(span.line for span in (finding.span, *(item.span for item in finding.related)))))
    yield from _header(finding, report)
    for at, (path, marks) in enumerate(_blocks(finding).items()):
        first = next((mark for mark in marks if mark.primary), marks[0])
        arrow = paint(":::" if at else "-->", Ink.FRAME, color=color)
        yield f"{'':{gutter}}{arrow} {visible(path)}:{first.line}:{first.column + 1}"
        yield from snippet(report.lines_of(path), marks, gutter, report.width, color=color)
    notes = list(_notes(finding, report.say))
    if notes:
        yield f"{'':{gutter}} {paint('|', Ink.FRAME, color=color)}"
    for name, text in notes:
        yield from _note(name, text, gutter, report)


def _header(finding: Finding, report: Report) -> Iterator[str]:
    words = f"{report.mark(finding)}{finding.name}: {finding.message}"
    first, *rest = wrapped(words, report.width - width_of(level(finding, color=False)) - 1, report.width - 2)
    painted = level(finding, color=report.color, address=report.page_of(finding) if report.links else "")
    yield f"{painted} {paint(first, Ink.BOLD, color=report.color)}"
    for line in rest:
        yield f"  {paint(line, Ink.BOLD, color=report.color)}"


def _blocks(finding: Finding) -> dict[str, list[Mark]]:
    """Group the marks by file, that of the primary place first."""
    blocks = {finding.span.path: [_mark(finding.span, finding.label, SEVERITY[finding.severity], primary=True)]}
    for item in finding.related:
        blocks.setdefault(item.span.path, []).append(_mark(item.span, item.message, Ink.FRAME, primary=False))
    return blocks


def _mark(span: Span, text: str, ink: Ink, *, primary: bool) -> Mark:
    # A place of several lines is marked to the end of its first one: the snippet clips it to the line.
    end = span.end_column if span.end_line == span.line else 1 << 30
    return Mark(span.line, span.column, end, text, primary, ink)


def _notes(finding: Finding, say: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    if finding.more:
        yield say("note"), say(f"{finding.more} more save{'s' if finding.more > 1 else ''} of this tensor went stale")
    if finding.help:
        yield say("help"), finding.help
    if finding.says:
        yield say(f"{finding.framework or 'framework'} says"), finding.says
    if finding.assumptions:
        yield say("assuming"), say("; ").join(finding.assumptions)
    if finding.verdict is not None:
        yield finding.verdict.name, finding.verdict.reason


def _note(name: str, text: str, gutter: int, report: Report) -> Iterator[str]:
    head = f"{name}: "
    room = max(report.width - gutter - 3, 20)
    lines = wrapped(text, room - width_of(head), room)
    sign = paint("=", Ink.FRAME, color=report.color)
    yield f"{'':{gutter}} {sign} {paint(head, Ink.BOLD, color=report.color)}{lines[0]}"
    for line in lines[1:]:
        yield f"{'':{gutter}}   {line}"
