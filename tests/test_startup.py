"""What a run imports: time to start is spent before anything is checked, and frameworks are never imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """\
import sys
from inplace_lint.cli import main
status = main({words!r})
roots = sorted({{name.partition(".")[0] for name in sys.modules}})
print("MODULES", *roots)
print("OURS", *sorted(name for name in sys.modules if name.startswith("inplace_lint.")))
"""


def imported(tmp_path: Path, *words: str) -> tuple[set[str], set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(words=list(words))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = {
        line.split()[0]: set(line.split()[1:]) for line in done.stdout.splitlines() if line.startswith(("MOD", "OURS"))
    }
    return lines["MODULES"], lines["OURS"]


@pytest.fixture
def model(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text("import torch\n\ndef f(x):\n    y = x.exp()\n    y += 1\n    return y\n")
    return tmp_path


def test_the_version_needs_neither_libcst_nor_rich_nor_the_engine(model):
    roots, ours = imported(model, "--version")
    assert roots & {"libcst", "rich", "pathspec", "torch", "paddle", "numpy", "multiprocessing"} == set()
    names = {"asked", "cli", "config", "errors", "keys", "kinds", "options", "patterns", "usage", "process", "terminal"}
    assert ours <= {f"inplace_lint.{name}" for name in names}


def test_a_wrong_option_is_answered_without_the_engine(model):
    roots, ours = imported(model, "check", "--nope")
    assert "libcst" not in roots
    assert not any(name.startswith("inplace_lint.interp") for name in ours)


def test_a_check_imports_no_framework_and_no_rich(model):
    roots, ours = imported(model, "check", "--no-cache", ".")
    assert "inplace_lint.rules.check" in ours
    assert roots & {"torch", "paddle", "numpy", "rich"} == set()


def test_a_check_answered_by_the_cache_does_without_libcst(model):
    assert "libcst" in imported(model, "check", ".")[0]
    assert "libcst" not in imported(model, "check", ".")[0]


def test_a_check_that_finds_nothing_does_without_libcst(model):
    (model / "a.py").write_text("import torch\n\ndef f(x):\n    y = x.exp()\n    x += 1\n    return y\n")
    roots, ours = imported(model, "check", "--no-cache", ".")
    assert "inplace_lint.lower.lower" in ours
    assert "libcst" not in roots


def test_a_tree_that_mentions_no_framework_does_without_libcst(model):
    (model / "a.py").write_text("x = 1\n")
    assert "libcst" not in imported(model, "check", "--no-cache", ".")[0]


def test_libcst_matchers_are_never_imported():
    program = "import sys, inplace_lint.rules.check\nassert 'libcst.matchers' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_a_second_run_parses_nothing(model):
    program = """\
import sys
parsed = []
def hook(event, arguments):
    if event == "compile" and isinstance(arguments[0], str | bytes):
        parsed.append(arguments[0])
from inplace_lint.cli import main
sys.addaudithook(hook)
main(["check", "."])
text = [one if isinstance(one, str) else one.decode() for one in parsed]
print("PARSED", sum("import torch" in one for one in text))
"""
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    counts = [
        subprocess.run(command, cwd=model, env=environment, capture_output=True, text=True, check=True)
        .stdout.splitlines()[-1]
        .split()[1]
        for _ in range(2)
    ]
    assert counts[0] != "0"
    assert counts[1] == "0"
