"""Random tensor programs, run on the real frameworks, raise where the tape says so and run where it says nothing."""

from __future__ import annotations

import importlib.util

import pytest

from tests.fuzz.oracle import Verdict
from tests.fuzz.survey import Survey, survey

FEW = 150
BLOCK = 500
MANY = 10_000
LEAST = 0.99  # of a block: what is left are doubts that are told as warnings, and the missed examples of the pages
MOST_SKIPPED = 0.03

FRAMEWORKS = [pytest.param("torch"), pytest.param("paddle", marks=pytest.mark.paddle)]


def _surveyed(framework: str, seeds: range) -> Survey:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    found = survey(framework, seeds)
    raising = found.counts[Verdict.AGREED_RAISES]
    assert 0.2 * len(seeds) < raising < 0.6 * len(seeds), "programs are of no use if all raise, or none"
    assert found.counts[Verdict.SKIPPED] <= MOST_SKIPPED * len(seeds), found.report()
    return found


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_tape_agrees_with_the_framework_on_random_programs(framework: str) -> None:
    found = _surveyed(framework, range(FEW))
    assert not found.disagreements, found.report()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MANY, BLOCK))
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_tape_agrees_with_the_framework_on_ten_thousand_random_programs(framework: str, first: int) -> None:
    found = _surveyed(framework, range(first, first + BLOCK))
    assert not found.counts[Verdict.CRASHED], found.report()
    assert found.agreement() >= LEAST, found.report()
