"""No verdict depends on a name: a program is judged alike when all of its own names are replaced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fixtures.record import FOLDER, PROGRAMS, files_of, record_of
from tests.pages.examples import RULE_PAGES, SEMANTICS_PAGES, Example, examples_of
from tests.pages.renaming import differences, renamed

PROGRAM = """
import torch


class Scale(torch.nn.Module):
    def __init__(self, factor, _cache=None):
        super().__init__()
        self.factor, self.weight, self._cache = factor, torch.ones(3), _cache

    def forward(self, target, *, mask):
        return torch.add(input=target, other=mask) * self.factor


def fill_(scores, out):
    print(f"{scores.shape} of factor")
    return Scale(factor=2)(scores, mask=out)
"""
RENAMED = """
import torch


class v1(torch.nn.Module):
    def __init__(v5, factor, _v2=None):
        super().__init__()
        v5.factor, v5.weight, v5._v2 = factor, torch.ones(3), _v2

    def forward(v5, v6, *, mask):
        return torch.add(input=v6, other=mask) * v5.factor


def v3_(v4, out):
    print(f"{v4.shape} of factor")
    return v1(factor=2)(v4, mask=out)
"""


def test_only_what_a_program_shares_with_others_keeps_its_name() -> None:
    assert renamed({"a.py": PROGRAM}) == {"a.py": RENAMED}


PAGES = [pytest.param(page, id=page.stem) for page in (*RULE_PAGES, *SEMANTICS_PAGES)]
_EVERY = 3  # examples of a page one is looked at; all of them under the marker `slow`


@pytest.mark.parametrize("page", PAGES)
def test_verdicts_on_a_page_do_not_depend_on_names(page: Path) -> None:
    assert _differing(examples_of(page)[::_EVERY]) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_no_verdict_on_a_page_depends_on_names(page: Path) -> None:
    assert _differing(examples_of(page)) == []


def _differing(examples: Sequence[Example]) -> list[str]:
    assert examples
    return [line for example in examples for line in differences({f"{example.name}.py": example.program})]


@pytest.mark.parametrize("program", [pytest.param(program, id=record_of(program).stem) for program in PROGRAMS])
def test_verdicts_on_a_fixture_do_not_depend_on_names(program: Path) -> None:
    files = {path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in files_of(program)}
    assert differences(files) == []
