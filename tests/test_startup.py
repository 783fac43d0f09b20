"""What a run imports: time to start is spent before anything is checked, and frameworks are never imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """\
import sys
from inplace_lint.cli.main import main
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
    packages = {
        "cli": (
            "shared_options",
            "main",
            "opportunities",
            "options",
            "param_types",
            "rule_command",
            "streams",
            "terminal",
            "usage_errors",
        ),
        "cli.machines": ("executor", "fleet_command", "merge_command"),
        "config": ("globs", "schema", "settings"),
        "cli.facts": ("command",),
        "core": ("errors",),
    }
    modules = {f"inplace_lint.{package}.{name}" for package, names in packages.items() for name in names}
    assert ours <= modules | {f"inplace_lint.{package}" for package in packages}


def test_a_wrong_option_is_answered_without_the_engine(model):
    roots, ours = imported(model, "check", "--nope")
    assert "libcst" not in roots
    assert not any(name.startswith("inplace_lint.interp") for name in ours)


def test_a_check_imports_no_framework_and_no_rich(model):
    roots, ours = imported(model, "check", "--no-cache", ".")
    assert "inplace_lint.driver.analyze_file" in ours
    assert roots & {"torch", "paddle", "numpy", "rich", "ray"} == set()


def test_a_check_answered_by_the_cache_does_without_libcst(model):
    assert "libcst" in imported(model, "check", ".")[0]
    assert "libcst" not in imported(model, "check", ".")[0]


def test_a_check_that_finds_nothing_does_without_libcst(model):
    (model / "a.py").write_text("import torch\n\ndef f(x):\n    y = x.exp()\n    x += 1\n    return y\n")
    roots, ours = imported(model, "check", "--no-cache", ".")
    assert "inplace_lint.frontend.lower" in ours
    assert "libcst" not in roots


def test_a_tree_that_mentions_no_framework_does_without_libcst(model):
    (model / "a.py").write_text("x = 1\n")
    assert "libcst" not in imported(model, "check", "--no-cache", ".")[0]


def test_libcst_matchers_are_never_imported():
    program = "import sys, inplace_lint.driver.analyze_file\nassert 'libcst.matchers' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


MODEL = """\
from torch import nn

from .layers import Act, make


class Net{number}(nn.Module):
    def __init__(self, width=8, act=Act):
        super().__init__()
        self.conv, self.act = nn.Conv2d(width, width, 3), make(act)

    def forward(self, x):
        out = self.act(self.conv(x))
        out {write}= x
        return out
"""
LAYERS = """\
import torch
from torch import nn


class Act(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def make(act):
    return act()
"""
WATCHED = """\
import sys

parsed, imported = [], set()


def hook(event, arguments):
    if event == "compile" and isinstance(arguments[0], (str, bytes)):
        parsed.append(arguments[0])


from inplace_lint.cli.main import main

sys.addaudithook(hook)
status = main(["check", "."])
texts = [one if isinstance(one, str) else one.decode() for one in parsed]
names = {name.partition(".")[0] for name in sys.modules}
count = sum("import nn" in one or "ones(2)" in one for one in texts)
print(status, count, *sorted(names & {"libcst", "rich", "torch"}))
"""


@pytest.fixture
def tree(tmp_path):
    """Make a package as timm is one: models, with faults in some, over shared layers; tests, a script, a notebook."""
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'zoo'\ndependencies = ['torch>=2']\n[tool.inplace-lint]\noutput-format = 'concise'\n"
        "[tool.inplace-lint.per-file-ignores]\n'tests/*' = ['IPL3']\n"
    )
    (tmp_path / ".gitignore").write_text("*.bak.py\n")
    files = {"zoo/__init__.py": "", "zoo/models/__init__.py": "", "zoo/models/layers.py": LAYERS, "setup.py": "x = 1\n"}
    for number in range(12):
        write = "+" if number % 3 == 0 else "= out +"
        text = MODEL.format(number=number, write=write).replace("= out += x", "= out + x")
        files[f"zoo/models/net{number}.py"] = text
    files["tests/test_nets.py"] = (
        "import torch\nfrom zoo.models.net0 import Net0\n\n\ndef test():\n    Net0()  # noqa: IPL201\n"
    )
    files["train.ipynb"] = json.dumps(
        {"cells": [{"cell_type": "code", "source": "%time\nimport torch\nw = torch.ones(2)\nw += 1"}], "nbformat": 4}
    )
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_second_run_on_an_unchanged_tree_imports_no_libcst_and_parses_no_file(tree):
    command = [sys.executable, "-c", WATCHED]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [
        subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    found, seen = zip(*(run.rstrip().rpartition("\n")[::2] for run in runs), strict=True)
    assert found[0] == found[1]
    assert found[0].count("error[IPL101]") == 4
    assert found[0].count("warning[IPL901]") == 1
    status, parsed, *modules = seen[0].split()
    assert (status, modules) == ("1", ["libcst"])
    assert int(parsed) > 12
    assert seen[1] == "1 0"
