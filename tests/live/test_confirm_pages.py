"""The examples of all pages, put to the proof: what raises is confirmed, and nothing that is right is refuted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.pages.examples import RULE_PAGES, SEMANTICS_PAGES, Example, examples_of

_SHARE_CONFIRMED = 0.97
_SAMPLE = 12


def raising(framework: str) -> list[Example]:
    every = [example for page in (*RULE_PAGES, *SEMANTICS_PAGES) for example in examples_of(page)]
    return [
        example
        for example in every
        if example.framework == framework and example.behaviour == "raises" and example.lines_of("error")
    ]


def verdicts(prover, examples: list[Example]) -> Counter[str]:
    """Count the verdicts on the errors that the pages expect."""
    expected = {}
    for example in examples:
        name = f"{Path(example.page).stem.replace('-', '_')}_{example.line}.py"
        prover.write(example.program, name)
        expected[name] = example.lines_of("error")
    found: Counter[str] = Counter()
    for row in prover.run().rows:
        if (row["location"]["row"], row["code"]) in expected[Path(row["filename"]).name]:
            found[row["confirmed"]["verdict"]] += 1
    return found


@pytest.mark.parametrize("framework", ["torch", pytest.param("paddle", marks=pytest.mark.paddle)])
def test_a_sample_of_what_raises_is_confirmed(prover, framework):
    found = verdicts(prover, raising(framework)[::_SAMPLE])
    assert set(found) == {"confirmed"}


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["torch", pytest.param("paddle", marks=pytest.mark.paddle)])
def test_nearly_all_that_raises_is_confirmed_and_nothing_is_refuted(prover, framework):
    found = verdicts(prover, raising(framework))
    assert found["refuted"] == 0
    assert found["confirmed"] >= _SHARE_CONFIRMED * found.total()
