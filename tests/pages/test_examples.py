"""Every example of the rule pages and of tests/semantics, on the analyzer and on the real framework."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from inplace_lint.core.finding import Finding, Severity
from inplace_lint.driver.merge_findings import is_agreed
from inplace_lint.rules import RULE_OF, RULES
from tests.fix import mending
from tests.pages.examples import EXAMPLES, Example
from tests.pages.real import Real

UNASKED = {f"{rule.name}.md": {rule.code} for rule in RULES if not rule.default}


def _errors(example: Example) -> list[Finding]:
    return [one for one in mending.found(example.program, fixes=True) if one.severity is Severity.ERROR]


def _quoted(text: str) -> re.Pattern[str]:
    """Return the pattern of the framework's sentence that a finding quotes; `...` stands for what it leaves out."""
    return re.compile(re.escape(text).replace(r"\[\.\.\.\]", ".*").replace(r"\.\.\.", ".*"), re.DOTALL)


def _parameter(example: Example):
    marks = [pytest.mark.paddle] if example.framework == "paddle" else []
    return pytest.param(example, id=example.name, marks=marks)


@pytest.mark.parametrize("example", [pytest.param(example, id=example.name) for example in EXAMPLES])
def test_the_analyzer_finds_what_the_comments_say(example: Example) -> None:
    opinions = {code for _, code in example.lines_of("info")} | UNASKED.get(example.page, set())
    advice = any(RULE_OF[code].unanimous for code in opinions)
    found = mending.found(example.program, opinions=bool(opinions), advice=advice, fixes=True)
    counted = [one for one in found if one.severity is not Severity.INFO or one.code in opinions]
    counted = [one for one in counted if is_agreed(one)]
    said = {(finding.span.line, finding.severity.value, finding.code) for finding in counted}
    expected = {(line, kind, code) for kind in ("error", "warning", "info") for line, code in example.lines_of(kind)}
    wrong = example.lines_of("false-positive")
    stated = {(line, severity, code) for line, severity, code in said if (line, code) in wrong}
    assert said - stated == expected
    assert {(line, code) for line, _, code in stated} == wrong, "mended: take the `false-positive` comment away"


@pytest.mark.parametrize("example", [pytest.param(e, id=e.name) for e in EXAMPLES if e.lines_of("missed")])
def test_a_missed_example_is_still_missed(example: Example) -> None:
    found = {(finding.span.line, finding.code) for finding in mending.found(example.program, fixes=True)}
    assert not found & example.lines_of("missed"), "mended: write `error` or `warning` instead of `missed`"


@pytest.mark.parametrize("example", [_parameter(example) for example in EXAMPLES])
def test_the_framework_does_what_the_fence_says(example: Example, real: Callable[[str], Real], tmp_path: Path) -> None:
    if not example.has_library:
        pytest.skip(f"{example.library} is not installed")
    program = tmp_path / "example.py"
    program.write_text(example.program, encoding="utf-8")
    outcome = real(example.framework).run(program)
    if example.behaviour == "raises":
        assert outcome.verdict == "raised"
        assert example.raises in f"{outcome.error}: {outcome.message}"
        quotes = [one.says for one in _errors(example) if one.says]
        assert not quotes or any(_quoted(text).search(outcome.message) for text in quotes)
    else:
        assert (outcome.verdict, outcome.message) == ("ran", "")
