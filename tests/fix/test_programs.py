"""Fixed programs on the real frameworks: the examples of the rule pages and of tests/semantics, and the fixtures."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.record import PROGRAMS, framework_of, record_of
from inplace_lint.core.finding import Severity
from tests.fix import mending
from tests.pages.conftest import real
from tests.pages.examples import EXAMPLES, Example
from tests.pages.real import Real

__all__ = ["real"]
ABOUT_WRITES = re.compile(r"in-?place|leaf Var|memory location|expected version", re.IGNORECASE)


def _parameter(example: Example):
    return pytest.param(example, id=example.name, marks=[pytest.mark.paddle] if example.framework == "paddle" else [])


def fixed(program: str) -> mending.Fixed:
    return mending.fixed(program)


def safely_fixed(program: str) -> mending.Fixed:
    return mending.fixed(program, unsafe=False)


def _run(example: Example, text: str, real: Callable[[str], Real], folder: Path):
    program = folder / "example.py"
    program.write_text(text, encoding="utf-8")
    return real(example.framework).run(program)


@pytest.mark.parametrize("example", [_parameter(one) for one in EXAMPLES if one.behaviour != "raises"])
def test_safe_fixes_let_a_program_do_what_it_did(example, real, tmp_path):
    text = safely_fixed(example.program).text
    if text != example.program:  # its asserts say what it computes
        assert _run(example, text, real, tmp_path).verdict == "ran"


SAME = (Path(__file__).parent / "same_values.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", [_parameter(one) for one in EXAMPLES if one.lines_of("error")])
def test_what_is_safely_fixed_computes_what_the_program_means(example, real, tmp_path):
    """Its meaning is what it computes while backward keeps copies, where the framework lets it get to its end so."""
    done = safely_fixed(example.program)
    if done.text != example.program:
        names = f"FRAMEWORK = {example.framework!r}\nBEFORE = {example.program!r}\nAFTER = {done.text!r}\n"
        program = f"{names}{SAME}\ncompare_with_copies()\n"
        outcome = _run(example, program, real, tmp_path)
        if any(finding.severity is Severity.ERROR for finding in done.remaining):
            assert outcome.error != "AssertionError"  # what is left raises
        else:
            assert (outcome.verdict, outcome.message) == ("ran", "")


@pytest.mark.parametrize("example", [_parameter(one) for one in EXAMPLES if one.lines_of("error")])
def test_a_second_run_over_safe_fixes_finds_nothing_new(example):
    first = safely_fixed(example.program)
    if first.text != example.program:
        ast.parse(first.text)
        again = safely_fixed(first.text)
        assert again.text == first.text
        assert [(one.code, one.span) for one in again.found] == [(one.code, one.span) for one in first.remaining]


@pytest.mark.parametrize("example", [_parameter(one) for one in EXAMPLES if one.lines_of("error")])
def test_a_program_whose_errors_are_fixed_raises_nothing_about_writes(example, real, tmp_path):
    done = fixed(example.program)
    if any(finding.severity is Severity.ERROR for finding in done.remaining):
        return
    outcome = _run(example, done.text, real, tmp_path)
    assert outcome.verdict == "ran" or not ABOUT_WRITES.search(outcome.message)


MOVED = re.compile(r"move lines? (\d+)(?: to (\d+))? below line (\d+):")


MOVABLE = [one for one in EXAMPLES if "error: IPL103" in one.program and one.has_library]


@pytest.mark.parametrize("example", [_parameter(one) for one in MOVABLE])
def test_the_lines_that_the_help_names_are_the_ones_to_move(example, real, tmp_path):
    told = [MOVED.match(finding.help) for finding in fixed(example.program).found if finding.code == "IPL103"]
    named = [match for match in told if match is not None]
    if not named:
        return
    lines = example.program.splitlines(keepends=True)
    for match in reversed(named):
        first, last, below = int(match[1]), int(match[2] or match[1]), int(match[3])
        lines[first - 1 : below] = [*lines[last:below], *lines[first - 1 : last]]
    assert _run(example, "".join(lines), real, tmp_path).verdict == "ran"


def test_most_faults_of_order_name_both_lines():
    """In the others a turn of a loop runs the backward of what the turn before it kept."""
    examples = [example for example in EXAMPLES if "error: IPL103" in example.program]
    told = [one for example in examples for one in fixed(example.program).found if one.code == "IPL103"]
    assert sum(re.search(r"lines? \d+\b.* line \d+\b", one.help) is not None for one in told) >= 2 / 3 * len(told)
    assert any(MOVED.match(one.help) for one in told)


def test_most_errors_of_the_examples_have_a_fix():
    """The rest is the program's to say: the order of steps, the mode of a write, what a custom function returns."""
    told = [fixed(example.program) for example in EXAMPLES if example.lines_of("error")]
    mended = [done for done in told if not any(one.severity is Severity.ERROR for one in done.remaining)]
    assert len(mended) / len(told) > 0.8


STILL_RAISE = {"gan_step", "gan_trainer", "paddle_histogram"}  # the order of steps, kinds of numbers


@pytest.mark.parametrize("program", [pytest.param(path, id=record_of(path).stem) for path in PROGRAMS])
def test_fixtures_run_after_all_fixes(program, real, lint, folder):
    name = record_of(program).stem
    if program.parent.name == name:
        shutil.copytree(program.parent, folder / name)
        copy = folder / name / program.name
    else:
        copy = Path(shutil.copy(program, folder))
    lint(".", "--fix", "--unsafe-fixes", "--no-cache")
    outcome = real(framework_of(program)).run(copy)
    assert outcome.verdict == ("raised" if name in STILL_RAISE else "ran")
