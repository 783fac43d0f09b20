"""The steps of the GitHub Action, run as a runner would run them; the hook's entry, read as pre-commit would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
BUGGY = "import torch\n\nw = torch.ones(2, requires_grad=True)\nw += 1\n"
CLEAN = "import torch\n\nw = torch.ones(2, requires_grad=True)\nw = w + 1\n"


class Ran(NamedTuple):
    status: int
    log: str
    summary: str
    outputs: str


def step(name: str) -> dict:
    return next(one for one in ACTION["runs"]["steps"] if one["name"] == name)


@pytest.fixture
def check(tmp_path: Path):
    """Run the check step on a file, with the inputs' defaults and those given."""

    def run(source: str, **inputs: str) -> Ran:
        folder = tmp_path / "work tree"
        folder.mkdir()
        (folder / "net work.py").write_text(source, encoding="utf-8")
        given = {name: value["default"] for name, value in ACTION["inputs"].items()} | inputs
        values = {f"${{{{ inputs.{name} }}}}": value for name, value in given.items()}
        values["${{ steps.install.outputs.python }}"] = sys.executable
        env = {name: values[value] for name, value in step("Check")["env"].items()}
        summary, outputs = tmp_path / "summary", tmp_path / "outputs"
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Check")["run"]],
            cwd=folder,
            env={**os.environ, **env, "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(outputs)},
            capture_output=True,
            text=True,
            check=False,
        )
        told = summary.read_text(encoding="utf-8") if summary.exists() else ""
        return Ran(ran.returncode, ran.stdout + ran.stderr, told, outputs.read_text(encoding="utf-8"))

    return run


def test_a_finding_is_annotated_and_fails_the_step(check):
    ran = check(BUGGY)
    assert ran.status == 1
    assert ran.log.startswith("::error title=inplace-lint (IPL201),file=net work.py,line=4,")
    assert "| `net work.py:4` | error | IPL201 |" in ran.summary
    assert ran.outputs == "status=1\n"


def test_a_clean_tree_passes(check):
    ran = check(CLEAN)
    assert (ran.status, ran.outputs) == (0, "status=0\n")
    assert ran.summary == "inplace-lint: all checks passed\n"


def test_options_are_words_and_never_commands(check, tmp_path):
    ran = check(BUGGY, args="--ignore IPL201 --statistics", paths=".\n$(touch broken)")
    assert ran.status == 2
    assert "$(touch: no such file" in ran.log
    assert not (tmp_path / "work tree" / "broken").exists()


def test_findings_can_go_into_a_file(check, tmp_path):
    ran = check(BUGGY, format="sarif", **{"output-file": str(tmp_path / "out.sarif")})
    assert ran.status == 1
    assert '"ruleId": "IPL201"' in (tmp_path / "out.sarif").read_text(encoding="utf-8")


def test_no_input_is_pasted_into_a_script():
    for one in ACTION["runs"]["steps"]:
        assert "${{" not in one.get("run", "")


def test_the_hooks_run_the_command_that_the_package_installs():
    finds, fixes = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert finds["entry"].split() == ["inplace-lint", "check"]
    assert fixes["entry"].split() == ["inplace-lint", "check", "--fix"]
    assert {finds["language"], fixes["language"]} == {"python"}
    assert "inplace-lint = " in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
