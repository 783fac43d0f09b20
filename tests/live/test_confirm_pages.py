"""The examples of all pages, put to the proof: what raises is confirmed, and nothing that is right is refuted."""

from __future__ import annotations

import ast
import math
from collections import Counter
from pathlib import Path

import pytest

from tests.pages.examples import EXAMPLES, Example

_SHARE_CONFIRMED = 0.97
_SHARE_SILENT = {"torch": 0.92, "paddle": 0.9}  # a model that is its own average has no form without the fault
_SAMPLE = 20  # examples at most, however many the pages have


def examples(framework: str, behaviour: str, severity: str) -> list[Example]:
    return [
        example
        for example in EXAMPLES
        if example.framework == framework
        and example.behaviour == behaviour
        and example.has_library
        and example.lines_of(severity)
        and not is_in_operator(example, severity)
        and "_C_ops" not in example.program  # compiled functions, which are called below what is watched
    ]


def is_in_operator(example: Example, severity: str) -> bool:
    """Check whether a finding is in the body of a registered operator, which runs below what is watched."""
    bodies = [
        range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for node in ast.walk(ast.parse(example.program))
        if isinstance(node, ast.FunctionDef)
        and any("torch.library." in ast.unparse(one) for one in node.decorator_list)
    ]
    return any(line in body for line, _ in example.lines_of(severity) for body in bodies)


def sample(every: list[Example]) -> list[Example]:
    """Return some of the examples, of all pages."""
    return every[:: math.ceil(len(every) / _SAMPLE)]


def verdicts(prover, chosen: list[Example], severity: str = "error") -> Counter[str]:
    """Count the verdicts on the findings that the pages expect."""
    expected = {}
    for example in chosen:
        name = f"{Path(example.page).stem.replace('-', '_')}_{example.line}.py"
        prover.write(example.program, name)
        expected[name] = example.lines_of(severity)
    found: Counter[str] = Counter()
    for row in prover.run().rows:
        if (row["location"]["row"], row["code"]) in expected[Path(row["filename"]).name]:
            found[row["confirmed"]["verdict"]] += 1
    return found


@pytest.mark.parametrize("framework", ["torch", pytest.param("paddle", marks=pytest.mark.paddle)])
def test_a_sample_of_what_raises_is_confirmed(prover, framework):
    found = verdicts(prover, sample(examples(framework, "raises", "error")))
    assert set(found) <= {"confirmed", "not reached"}
    assert found["not reached"] <= 1  # sparse tensors, whose memory has no address, are not watched


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["torch", pytest.param("paddle", marks=pytest.mark.paddle)])
def test_nearly_all_that_raises_is_confirmed_and_nothing_is_refuted(prover, framework):
    found = verdicts(prover, examples(framework, "raises", "error"))
    assert found["refuted"] == 0
    assert found["confirmed"] >= _SHARE_CONFIRMED * found.total()


@pytest.mark.parametrize("framework", ["torch", pytest.param("paddle", marks=pytest.mark.paddle)])
def test_a_sample_of_what_is_silent_is_confirmed(prover, framework):
    found = verdicts(prover, sample(examples(framework, "silent", "warning")), "warning")
    assert found["refuted"] == 0
    assert found["confirmed"] >= 0.7 * found.total()


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["torch", pytest.param("paddle", marks=pytest.mark.paddle)])
def test_nearly_all_that_is_silent_is_confirmed_and_nothing_is_refuted(prover, framework):
    found = verdicts(prover, examples(framework, "silent", "warning"), "warning")
    assert found["refuted"] == 0
    assert found["confirmed"] >= _SHARE_SILENT[framework] * found.total()
