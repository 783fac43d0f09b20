"""What the analyzer knows at a line: `reveal(x)` in the examples, and `--dump-state`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from inplace_lint.cli.main import program
from inplace_lint.driver.dump_state import revealed
from tests.pages.examples import SEMANTICS_PAGES, Example, examples_of

REVEALING = [
    pytest.param(example, id=example.name)
    for page in SEMANTICS_PAGES
    for example in examples_of(page)
    if "reveal(" in example.program
]


@pytest.mark.parametrize("example", REVEALING)
def test_what_is_known_of_a_value_is_what_the_comment_says(example: Example) -> None:
    assert len(example.revealed) == example.program.count("reveal(")
    source = f"reveal = lambda value: value; {example.program}"  # on the first line, so that all stay where they are
    found = {line: " | ".join(revealed("a.py", source, line)) for line in example.revealed}
    assert found == example.revealed


def test_a_page_reveals_ten_values_at_least() -> None:
    assert sum(len(example.values[0].revealed) for example in REVEALING) >= 10


PROGRAM = """import torch


def step(x, flag):
    h = torch.exp(x)
    if flag:
        h += 1
    view = h[0]
    return view
"""
DUMP = """path 1 at program.py:8
variables
  x = #5 tensor: may require grad, may be a leaf, version 0
  flag = unknown input: parameter step flag
  h = #8 tensor: may require grad, no leaf, version 1, made by __iadd__
tensors
  #5: storage 4, may require grad, may be a leaf, version 0, to be assumed: `x` requires grad
  #8: storage 7, may require grad, no leaf, version 1, made by __iadd__, nodes 9, to be assumed: `x` requires grad
storages
  4: version 0
  7: version 1, __iadd__ of h
tape
  6: exp, saves exp of out0 at version 0
  9: __iadd__, of 6
conditions
  (parameter step flag) is True
  none (parameter step flag) is False
modes
  grad=True, inference=False, autocast=False, compiled=False

path 2 at program.py:8
variables
  x = #5 tensor: may require grad, may be a leaf, version 0
  flag = unknown input: parameter step flag
  h = #8 tensor: may require grad, may be a leaf, version 0, made by exp
tensors
  #5: storage 4, may require grad, may be a leaf, version 0, to be assumed: `x` requires grad
  #8: storage 7, may require grad, may be a leaf, version 0, made by exp, nodes 6, to be assumed: `x` requires grad
storages
  4: version 0
  7: version 0
tape
  6: exp, saves exp of out0 at version 0
conditions
  (parameter step flag) is False
modes
  grad=True, inference=False, autocast=False, compiled=False
"""


def dumped(*words: str) -> str:
    done = CliRunner().invoke(program, ["check", *words, "--isolated"], standalone_mode=False)
    return done.output if done.exception is None else str(done.exception)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    return "program.py"


def test_each_path_to_a_line_is_printed_with_all_that_it_knows(path: str) -> None:
    assert dumped(path, "--dump-state", "8") == DUMP


def test_a_line_that_no_path_runs_is_said_to_be_so(path: str) -> None:
    assert dumped(path, "--dump-state", "2") == "no path runs a statement that starts at program.py:2\n"


def test_a_state_is_printed_of_one_file_only(path: str) -> None:
    assert dumped(path, path, "--dump-state", "8") == "--dump-state needs exactly one file"
    Path("wrong.py").write_text("import torch\nx = (\n", encoding="utf-8")
    assert dumped("wrong.py", "--dump-state", "2") == "the file has a syntax error"


def test_the_option_is_hidden() -> None:
    assert "--dump-state" not in dumped("--help")
