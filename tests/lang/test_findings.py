"""Findings of every example, in Chinese: no English is left over, only words change, and frames stay in line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from inplace_lint.core.finding import Finding
from inplace_lint.knowledge import facts
from inplace_lint.report.formats import full
from inplace_lint.report.i18n import in_language
from inplace_lint.report.model import Report
from inplace_lint.report.text_width import width_of
from inplace_lint.rules.draft import short
from tests.facts.tables import spelled
from tests.fix import mending
from tests.lang.translations import require_translations
from tests.pages.examples import RULE_PAGES, SEMANTICS_PAGES, examples_of

PAGES = [pytest.param(page, id=page.name) for page in (*RULE_PAGES, *SEMANTICS_PAGES)]
_WORD = re.compile(r"[A-Za-z_]\w*")
_MARKS = re.compile(r" +\| ( *[-^][-^ ]*)")


def _report(program: str) -> Report:
    found = mending.found(program, opinions=True, fixes=True)
    return Report(found, lambda _path: program.split("\n"), width=80)


@cache
def ops() -> frozenset[str]:
    """Give the names of operations, as messages spell them."""
    names = (name for framework in facts.frameworks() for name in spelled(framework))
    return frozenset(word for name in names for word in _WORD.findall(short(name)))


def texts_of(finding: Finding) -> list[str]:
    related = [item.message for item in finding.related]
    fixes = [finding.fix.message] if finding.fix is not None else []
    return [finding.message, finding.label, finding.help, *fixes, *related, *finding.assumptions]


def _edits(finding: Finding) -> object:
    return (finding.fix.applicability, finding.fix.edits) if finding.fix is not None else None


@pytest.mark.parametrize("page", PAGES)
def test_the_findings_of_a_page_are_told_in_chinese(page: Path) -> None:
    """One test a page, since most of its time goes into the findings."""
    missing: list[str] = []
    for example in examples_of(page):
        report = _report(example.program)
        chinese = in_language(report, "zh")
        missing.extend(_left_in_english(example.program, report, chinese))
        _only_words_change(report, chinese)
        _frames_fit_and_marks_stay(report, chinese)
    require_translations(missing)


def _left_in_english(program: str, report: Report, chinese: Report) -> Iterator[str]:
    for one, other in zip(report.findings, chinese.findings, strict=True):
        names = ops() | set(_WORD.findall(program)) | set(_WORD.findall(other.says))
        for english, text in zip(texts_of(one), texts_of(other), strict=True):
            bare = re.sub(r"`[^`]*`", "", text)
            if not set(_WORD.findall(bare)) <= names or (text.isascii() and text):
                yield f"rules/lang/zh.json: the Chinese for {english!r} leaves English: {text!r}"
        if one.message == other.message:
            yield f"rules/lang/zh.json: add the Chinese for the message {one.message!r}"


def _only_words_change(report: Report, chinese: Report) -> None:
    for one, other in zip(report.findings, chinese.findings, strict=True):
        assert (one.code, one.name, one.severity, one.certainty) == (
            other.code,
            other.name,
            other.severity,
            other.certainty,
        )
        assert (one.span, one.symbol, one.op, one.says) == (other.span, other.symbol, other.op, other.says)
        assert [(item.role, item.span) for item in one.related] == [(i.role, i.span) for i in other.related]
        assert _edits(one) == _edits(other)


def _frames_fit_and_marks_stay(report: Report, in_chinese: Report) -> None:
    """Hold frames to the terminal's width, and marks to where they are in English."""
    english, chinese = full.render(report), full.render(in_chinese)
    assert [line for line in chinese.split("\n") if width_of(line) > 80] == []
    marks, same = ([row.rstrip() for row in _MARKS.findall(text)] for text in (english, chinese))
    assert marks == same
    assert bool(marks) is bool(report.findings)
