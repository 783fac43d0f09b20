"""Findings of every example, in Chinese: no English is left over, only words change, and frames stay in line."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from inplace_lint.core.finding import Finding
from inplace_lint.driver.analyze_file import Options, check_file
from inplace_lint.knowledge import facts
from inplace_lint.report.formats import full
from inplace_lint.report.i18n import in_language
from inplace_lint.report.model import Report
from inplace_lint.report.text_width import width_of
from inplace_lint.rules.draft import short
from tests.pages.examples import RULE_PAGES, SEMANTICS_PAGES, examples_of

PAGES = [pytest.param(page, id=page.name) for page in (*RULE_PAGES, *SEMANTICS_PAGES)]
_WORD = re.compile(r"[A-Za-z_]\w*")
_MARKS = re.compile(r" +\| ( *[-^][-^ ]*)")


@cache
def reports(page: Path) -> tuple[tuple[str, Report], ...]:
    """Give the program and the report of each example of a page, those of opinions included."""
    return tuple((example.program, _report(example.program)) for example in examples_of(page))


def _report(program: str) -> Report:
    found = check_file("example.py", program, Options(opinions=True)).findings
    return Report(found, lambda _path: program.split("\n"), width=80)


@cache
def ops() -> frozenset[str]:
    """Give the names of operations, as messages spell them."""
    tables = [facts.load(name, None) for name in facts.frameworks()]
    return frozenset(word for table in tables for name in table.rows for word in _WORD.findall(short(name)))


def texts_of(finding: Finding) -> list[str]:
    related = [item.message for item in finding.related]
    fixes = [finding.fix.message] if finding.fix is not None else []
    return [finding.message, finding.label, finding.help, *fixes, *related, *finding.assumptions]


def _edits(finding: Finding) -> object:
    return (finding.fix.applicability, finding.fix.edits) if finding.fix is not None else None


@pytest.mark.parametrize("page", PAGES)
def test_no_english_is_left_in_the_findings_of_a_page(page: Path) -> None:
    for program, report in reports(page):
        for finding in in_language(report, "zh").findings:
            names = ops() | set(_WORD.findall(program)) | set(_WORD.findall(finding.says))
            for text in texts_of(finding):
                bare = re.sub(r"`[^`]*`", "", text)
                assert set(_WORD.findall(bare)) <= names, text
                assert not text.isascii() or not text, text


@pytest.mark.parametrize("page", PAGES)
def test_only_words_change(page: Path) -> None:
    for _, report in reports(page):
        for one, other in zip(report.findings, in_language(report, "zh").findings, strict=True):
            assert (one.code, one.name, one.severity, one.certainty) == (
                other.code,
                other.name,
                other.severity,
                other.certainty,
            )
            assert (one.span, one.symbol, one.op, one.says) == (other.span, other.symbol, other.op, other.says)
            assert [(item.role, item.span) for item in one.related] == [(i.role, i.span) for i in other.related]
            assert one.message != other.message
            assert _edits(one) == _edits(other)


@pytest.mark.parametrize("page", PAGES)
def test_frames_fit_the_terminal_and_marks_stand_where_they_do_in_english(page: Path) -> None:
    for _, report in reports(page):
        english, chinese = full.render(report), full.render(in_language(report, "zh"))
        assert [line for line in chinese.split("\n") if width_of(line) > 80] == []
        marks, same = ([row.rstrip() for row in _MARKS.findall(text)] for text in (english, chinese))
        assert marks == same
        assert bool(marks) is bool(report.findings)
