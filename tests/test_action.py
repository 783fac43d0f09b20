"""The steps of the GitHub Action, run as a runner would run them; the hook's entry, read as pre-commit would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
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

    def run(source: str, since: str = "", event: str = "pull_request", **inputs: str) -> Ran:
        folder = tmp_path / "work tree"
        folder.mkdir(exist_ok=True)
        (folder / "net work.py").write_text(source, encoding="utf-8")
        given = {name: value["default"] for name, value in ACTION["inputs"].items()} | inputs
        values = {f"${{{{ inputs.{name} }}}}": value for name, value in given.items()}
        values["${{ steps.install.outputs.python }}"] = sys.executable
        values["${{ steps.base.outputs.since }}"] = since
        values["${{ runner.temp }}"] = str(tmp_path)
        values["${{ github.event_name }}"] = event
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


def test_code_scanning_gets_the_findings_besides(check, tmp_path):
    ran = check(BUGGY, **{"upload-sarif": "true"})
    assert ran.status == 1
    assert ran.outputs == f"sarif={tmp_path / 'inplace-lint.sarif'}\nstatus=1\n"
    assert '"ruleId": "IPL201"' in (tmp_path / "inplace-lint.sarif").read_text(encoding="utf-8")


def test_a_baseline_lets_findings_stand(check, tmp_path):
    entry = {"rule": "IPL201", "path": "net work.py", "function": "", "content": "w += 1", "count": 1}
    (tmp_path / "work tree").mkdir()
    known = json.dumps({"version": 1, "findings": [entry]})
    (tmp_path / "work tree" / "known.json").write_text(known, encoding="utf-8")
    assert check(BUGGY, baseline="known.json").status == 0


def test_code_is_run_when_it_is_asked_for_and_never_for_strangers(check, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    ran = check(BUGGY, confirm="true")
    assert (ran.status, "[confirmed on torch " in ran.log) == (1, True), ran.log
    ran = check(BUGGY, event="pull_request_target", confirm="true")
    assert (ran.status, ran.outputs.splitlines()[-1]) == (2, "status=2")
    assert ran.log == "::error title=inplace-lint::confirm runs code, and is refused for pull_request_target\n"


class Clone(NamedTuple):
    """A shallow clone of a pull request, as actions/checkout makes it."""

    folder: Path
    origin: Path

    def base(self, **environment: str) -> Ran:
        summary, outputs = self.folder.parent / "summary", self.folder.parent / "outputs"
        for place in (summary, outputs):
            place.write_text("", encoding="utf-8")
        given = {"INPLACE_LINT_SINCE": "auto", "INPLACE_LINT_BASE": "main", **environment}
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Find the merge base")["run"]],
            cwd=self.folder,
            env={**os.environ, **given, "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(outputs)},
            capture_output=True,
            text=True,
            check=False,
        )
        told = summary.read_text(encoding="utf-8")
        return Ran(ran.returncode, ran.stdout + ran.stderr, told, outputs.read_text(encoding="utf-8"))


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *named, *words], cwd=folder, capture_output=True, check=True)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    origin, folder = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "-q")
    for number in range(3):
        (origin / "net.py").write_text(CLEAN + "#" * number, encoding="utf-8")
        git(origin, "add", "-A")
        git(origin, "commit", "-q", "-m", str(number))
        if number == 0:
            git(origin, "branch", "topic")
    git(origin, "checkout", "-q", "topic")
    (origin / "new.py").write_text(BUGGY, encoding="utf-8")
    git(origin, "add", "-A")
    git(origin, "commit", "-q", "-m", "new")
    git(tmp_path, "clone", "-q", "--depth", "1", "--branch", "topic", origin.as_uri(), str(folder))
    return Clone(folder, origin)


def test_the_merge_base_is_fetched_into_a_shallow_clone(clone):
    ran = clone.base()
    assert (ran.status, ran.outputs, ran.summary) == (0, "since=origin/main\n", ""), ran.log
    git(clone.folder, "merge-base", "origin/main", "HEAD")


def test_outside_of_a_pull_request_everything_is_told(clone):
    assert clone.base(INPLACE_LINT_BASE="").outputs == "since=\n"
    assert clone.base(INPLACE_LINT_SINCE="").outputs == "since=\n"


def test_a_base_that_cannot_be_found_is_told(clone):
    ran = clone.base(INPLACE_LINT_BASE="gone")
    assert (ran.status, ran.outputs) == (0, "since=\n"), ran.log
    assert "::warning title=inplace-lint::no history in common with origin/gone was found" in ran.log
    assert (
        ran.summary
        == "inplace-lint: no history in common with `origin/gone` was found, so all findings are reported.\n"
    )


def test_only_changed_lines_are_annotated(check, tmp_path):
    folder = tmp_path / "work tree"
    folder.mkdir()
    (folder / "old.py").write_text(BUGGY, encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "old")
    git(folder, "checkout", "-q", "-b", "topic")
    ran = check(BUGGY, since="main")
    assert ran.status == 1
    assert "net work.py" in ran.log
    assert "old.py" not in ran.log


def ran_through(workspace: Path, github: dict[str, str], **inputs: str) -> tuple[list[int], str, str]:
    """Run the steps that are scripts as a runner would; give their statuses, the log and the summary."""
    temp = workspace.parent / "temp"
    temp.mkdir()
    files = {"GITHUB_OUTPUT": temp / "outputs", "GITHUB_STEP_SUMMARY": temp / "summary"}
    values = {f"inputs.{name}": value["default"] for name, value in ACTION["inputs"].items()}
    values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
    values |= {"github.action_path": str(ROOT), "runner.temp": str(temp)}
    values |= {f"github.{name}": value for name, value in github.items()}
    inherited = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    inherited |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{inherited['PATH']}"}
    statuses, log = [], ""

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda hole: values.get(hole[1], ""), text)

    for one in (one for one in ACTION["runs"]["steps"] if "run" in one):
        files["GITHUB_OUTPUT"].write_text("", encoding="utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", one["run"]],
            cwd=workspace / filled(one.get("working-directory", ".")),
            env={
                **inherited,
                "GITHUB_WORKSPACE": str(workspace),
                **{name: str(path) for name, path in files.items()},
                **{name: filled(value) for name, value in one["env"].items()},
            },
            capture_output=True,
            text=True,
            check=False,
        )
        statuses.append(done.returncode)
        log += done.stdout + done.stderr
        for line in files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            values[f"steps.{one['id']}.outputs.{name}"] = value
    told = files["GITHUB_STEP_SUMMARY"]
    return statuses, log, told.read_text(encoding="utf-8") if told.exists() else ""


def test_all_steps_after_one_another_install_the_tool_and_annotate_what_a_pull_request_adds(clone):
    package = clone.folder / "a package"
    package.mkdir()
    (package / "deep.py").write_text(BUGGY, encoding="utf-8")
    statuses, log, summary = ran_through(
        clone.folder, {"base_ref": "main", "event_name": "pull_request"}, working_directory="a package"
    )
    assert statuses == [0, 0, 1], log
    annotations = [line for line in log.splitlines() if line.startswith("::error")]
    assert [line.split(",")[1:3] for line in annotations] == [["file=a package/deep.py", "line=4"]], log
    assert "| `deep.py:4` | error | IPL201 |" in summary


def test_no_input_is_pasted_into_a_script():
    for one in ACTION["runs"]["steps"]:
        assert "${{" not in one.get("run", "")


def test_the_hooks_run_the_command_that_the_package_installs():
    finds, fixes = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert finds["entry"].split() == ["inplace-lint", "check", "--force-exclude"]
    assert fixes["entry"].split() == ["inplace-lint", "check", "--force-exclude", "--fix"]
    assert {finds["language"], fixes["language"]} == {"python"}
    assert "inplace-lint = " in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_nothing_in_the_action_is_open_to_injection():  # the two that are ignored say why in the workflow
    program = Path(sysconfig.get_path("scripts")) / "zizmor"
    places = ("action.yml", ".github")
    ran = subprocess.run(
        [str(program), "--offline", "--no-progress", "--color=never", "--pedantic", "--strict-collection", *places],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout[:35]) == (0, "No findings to report. Good job! (2"), ran.stdout + ran.stderr
