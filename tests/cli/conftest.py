"""Runs of the command line in a folder of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

BUGGY = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
"""
CLEAN = "import torch\n\nx = torch.ones(3)\nx.add_(1)\n"


class Ran(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with nothing in it but the mark of a project."""
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


@pytest.fixture
def lint(folder: Path) -> Callable[..., Ran]:
    """Run `inplace-lint` with words in the folder, in a process of its own."""

    def run(*words: str, stdin: bytes = b"", **environment: str) -> Ran:
        inherited = {
            key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}
        }
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH")) if part)
        done = subprocess.run(
            [sys.executable, "-m", "inplace_lint", *words],
            cwd=folder,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=300,
            env={**inherited, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", **environment},
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def buggy() -> str:
    return BUGGY


@pytest.fixture
def clean() -> str:
    return CLEAN
