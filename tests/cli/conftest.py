"""Runs of the command line in a folder of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli import forked
from tests.cli.forked import Ran

BUGGY = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
"""
CLEAN = "import torch\n\nx = torch.ones(3)\nx.add_(1)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with nothing in it but the mark of a project."""
    (tmp_path / "pyproject.toml").write_text("")
    return tmp_path


@pytest.fixture
def lint(folder: Path) -> Callable[..., Ran]:
    """Run `inplace-lint` with words in the folder, in a process of its own."""

    def run(*words: str, stdin: bytes = b"", **environment: str) -> Ran:
        return forked.run(words, folder, {**forked.usual_environment(), **environment}, stdin)

    return run


@pytest.fixture
def buggy() -> str:
    return BUGGY


@pytest.fixture
def clean() -> str:
    return CLEAN
