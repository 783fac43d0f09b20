"""Each fixture is found and behaves as recorded; UPDATE=1 records anew."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.record import PROGRAMS, behaviour_of, findings_of, framework_of, record_of, write
from tests.pages.real import Real

UPDATE = bool(os.environ.get("UPDATE"))


@pytest.fixture(scope="module")
def real() -> Iterator[Callable[[str], Real]]:
    children: dict[str, Real] = {}
    yield lambda framework: children.setdefault(framework, Real(framework))
    for child in children.values():
        child.stop()


def _record(program: Path) -> dict[str, object]:
    return json.loads(record_of(program).read_text(encoding="utf-8"))


def _parameter(program: Path):
    marks = [pytest.mark.paddle] if framework_of(program) == "paddle" else []
    return pytest.param(program, id=record_of(program).stem, marks=marks)


@pytest.mark.parametrize("program", [pytest.param(program, id=record_of(program).stem) for program in PROGRAMS])
def test_the_analyzer_finds_what_is_recorded(program: Path) -> None:
    findings = findings_of(program)
    if UPDATE:
        write(program, findings, _record(program)["behaviour"])
    assert findings == _record(program)["findings"]


@pytest.mark.parametrize("program", [_parameter(program) for program in PROGRAMS])
def test_the_framework_does_what_is_recorded(program: Path, real: Callable[[str], Real]) -> None:
    behaviour = behaviour_of(program, real(framework_of(program)))
    if UPDATE:
        write(program, _record(program)["findings"], behaviour)
    assert behaviour == _record(program)["behaviour"]


@pytest.mark.parametrize("program", [pytest.param(program, id=record_of(program).stem) for program in PROGRAMS])
def test_a_wrong_answer_says_why_and_a_right_one_does_not(program: Path) -> None:
    record = _record(program)
    assert ("reason" in record) is (record["findings"] != record["expected"])


@pytest.mark.parametrize("program", [pytest.param(program, id=record_of(program).stem) for program in PROGRAMS])
def test_errors_are_expected_of_programs_that_raise_and_of_no_others(program: Path) -> None:
    record = _record(program)
    errors = [entry for entry in record["expected"] if entry["severity"] == "error"]
    assert bool(errors) is (record["behaviour"]["outcome"] == "raised")
