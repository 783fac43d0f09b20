"""No verdict depends on a name: every example is judged alike when all of its own names are replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.examples import ROOT, RULE_PAGES, SEMANTICS_PAGES, examples_of
from tests.pages.renaming import differences, renamed

FIXTURES = tuple(sorted((ROOT / "fixtures").glob("*.py")))


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in (*RULE_PAGES, *SEMANTICS_PAGES)])
def test_verdicts_on_a_page_do_not_depend_on_names(page: Path) -> None:
    examples = examples_of(page)
    assert examples
    assert [line for example in examples for line in differences(example.name, example.program)] == []
