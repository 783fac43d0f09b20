"""The programs in `fixtures/`: what a run of each shows is what is expected of the analysis."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
PROGRAMS = sorted(path for path in FIXTURES.glob("*.py") if path.with_suffix(".json").is_file())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_run_names_the_line_that_makes_it_raise(torch_child, paddle_child, program):
    recorded = json.loads(program.with_suffix(".json").read_text(encoding="utf-8"))
    framework, outcome = recorded["behaviour"]["framework"], recorded["behaviour"]["outcome"]
    watched = {"torch": torch_child, "paddle": paddle_child}[framework].run(program)
    errors = [(item.code, item.span.line) for item in watched.findings if item.severity.value == "error"]
    expected = [(item["code"], item["line"]) for item in recorded["expected"] if item["severity"] == "error"]
    if outcome == "ran":
        assert errors == []
    else:
        assert set(errors) & set(expected), watched
