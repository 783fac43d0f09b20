"""The shape of the rule pages, and that pages and rules are the same set."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inplace_lint.cli.options import known_rules
from inplace_lint.rules import RULES
from tests.pages.examples import ROOT, RULE_PAGES, PageError, examples_of

HEADINGS = (
    "What it does",
    "Why is this bad?",
    "What PyTorch says",
    "Example",
    "Use instead",
    "When it is fine",
    "Fix safety",
    "Known limits",
)
OPTIONAL = ("Paddle", "Versions")  # between what is fine and what a fix may do
HARM = re.compile(
    r"harm: (raises in backward|raises at the write|silent|style|the file cannot be imported)"
    r" · severity: (error|warning|info)"
    r" · since \d+\.\d+\.\d+ · frameworks: (torch|paddle|torch, paddle)"
)
CODES = {rule.name: rule.code for rule in RULES}
PAGES = [pytest.param(page, id=page.name) for page in RULE_PAGES]


def _section(page: Path, heading: str) -> tuple[int, int]:
    """Give the first and last line of a section."""
    lines = page.read_text(encoding="utf-8").splitlines()
    first = lines.index(f"## {heading}") + 1
    rest = (number for number, line in enumerate(lines[first:], first) if line.startswith("## "))
    return first, next(rest, len(lines))


def test_each_rule_has_a_page_and_each_page_a_rule() -> None:
    assert {page.stem for page in RULE_PAGES} == set(CODES)
    pages = {page.stem: page.read_text(encoding="utf-8").splitlines()[0] for page in (ROOT / "rules").glob("*.md")}
    assert pages == {rule.name: f"# {rule.name} ({rule.code})" for rule in known_rules()}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_with_its_rule_and_its_harm(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# {page.stem} ({CODES[page.stem]})"
    assert HARM.fullmatch(lines[2])


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_headings_in_order(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = tuple(re.findall(r"^## (.+)$", text, re.MULTILINE))
    where = HEADINGS.index("Fix safety")
    assert found == (*HEADINGS[:where], *(one for one in OPTIONAL if one in found), *HEADINGS[where:])


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_each_framework_that_its_rule_is_for(page: Path) -> None:
    named = page.read_text(encoding="utf-8").splitlines()[2].rpartition("frameworks: ")[2].split(", ")
    assert {example.framework for example in examples_of(page)} >= set(named)


@pytest.mark.parametrize("page", PAGES)
def test_bad_examples_are_found_and_fine_ones_are_not(page: Path) -> None:
    examples = examples_of(page)
    for heading, least, bad in (("Example", 3, True), ("Use instead", 1, False), ("When it is fine", 4, False)):
        first, last = _section(page, heading)
        here = [example for example in examples if first < example.line <= last and not example.is_cure]
        assert len(here) >= least, heading
        for example in here:
            findable = example.lines_of("error", "warning", "info", "missed")
            assert bool(findable) is bad, f"{example.name} stands under {heading!r}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Text:\n\n```python\nimport torch\n```\n", "none of"),
        ("Text:\n\n```pythonruns\nimport torch\n```\n", "a space stands between"),
        ("Text:\n\n```python runs\nimport os\n```\n", "neither"),
        ("Text:\n\n```python runs\nimport torch\n", "not closed"),
        ("Text:\n\n```python runs\nimport torch  # error IPL101\n```\n", "says nothing we know"),
        ("Text:\n\n```python runs\nimport torch  # error: IPL101\n```\n", "does not raise"),
        ("Text:\n\n```python raises: modified by an inplace operation\nimport torch\n```\n", "no line of it"),
        ("Text:\n\n```python silent\nimport torch\n```\n", "asserts the wrong value"),
        ("# Text\n\n```python runs\nimport torch\n```\n", "introduces each example"),
    ],
)
def test_a_page_that_says_nothing_clear_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(PageError, match=complaint):
        examples_of(page)
