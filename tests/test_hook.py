"""The hook, run by a real pre-commit in a scratch repository that installs it from this checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PASSED_OVER = (".git", ".*cache*", "__pycache__", ".venv", "venv", "dist", "build", ".benchmarks")
BUGGY = "import torch\n\nw = torch.ones(2, requires_grad=True)\nw += 1\n"


def git(folder: Path, *words: str) -> str:
    named = ("-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main")
    ran = subprocess.run(["git", *named, *words], cwd=folder, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def repository(folder: Path) -> str:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "start", "--no-verify")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def tool(tmp_path_factory) -> Tool:
    """Commit this checkout to a repository; pre-commit installs it from there once for all tests."""
    folder = tmp_path_factory.mktemp("hook")
    shutil.copytree(ROOT, folder / "tool", ignore=shutil.ignore_patterns(*PASSED_OVER))
    return Tool(folder / "tool", repository(folder / "tool"), folder / "home")


class Tool(NamedTuple):
    """The repository of the tool, its revision, and where pre-commit keeps what it installed."""

    folder: Path
    revision: str
    home: Path

    def used(self, user: Path, hook_id: str, text: str) -> Path:
        """Make a repository that uses a hook, with one file in it."""
        user.mkdir()
        (user / "net.py").write_text(text, encoding="utf-8")
        config = f"repos:\n- repo: {self.folder.as_posix()}\n  rev: {self.revision}\n  hooks:\n  - id: {hook_id}\n"
        (user / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
        repository(user)
        return user

    def run(self, user: Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PRE_COMMIT_HOME": str(self.home), "NO_COLOR": "1"}
        command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never"]
        return subprocess.run(command, cwd=user, env=environment, capture_output=True, text=True, check=False)


def test_the_hook_stops_a_bug_and_lets_clean_code_pass(tool: Tool, tmp_path: Path) -> None:
    user = tool.used(tmp_path / "user", "inplace-lint", BUGGY)
    ran = tool.run(user)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "error[IPL201] leaf-write" in ran.stdout
    assert "net.py:4:1" in ran.stdout
    (user / "net.py").write_text(BUGGY.replace("w += 1", "w = w + 1"), encoding="utf-8")
    ran = tool.run(user)
    assert (ran.returncode, "Passed" in ran.stdout) == (0, True), ran.stdout + ran.stderr


def test_what_is_excluded_is_passed_over_and_notebooks_are_not(tool: Tool, tmp_path: Path) -> None:
    user = tool.used(tmp_path / "user", "inplace-lint", BUGGY)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": BUGGY}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (user / "train.ipynb").write_text(json.dumps(book), encoding="utf-8")
    (user / "inplace-lint.toml").write_text('exclude = ["net.py"]\noutput-format = "concise"\n', encoding="utf-8")
    git(user, "add", "-A")
    ran = tool.run(user)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "train.ipynb:cell 1:4:1: error[IPL201]" in ran.stdout
    assert "net.py" not in ran.stdout


def test_the_second_hook_mends_what_is_safe(tool: Tool, tmp_path: Path) -> None:
    saved = "import torch\n\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()\n"
    user = tool.used(tmp_path / "user", "inplace-lint-fix", saved)
    ran = tool.run(user)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "files were modified by this hook" in ran.stdout
    assert (user / "net.py").read_text(encoding="utf-8") == saved.replace("y += 1", "y = y + 1")
    ran = tool.run(user)
    assert (ran.returncode, "Passed" in ran.stdout) == (0, True), ran.stdout + ran.stderr
