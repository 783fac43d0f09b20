"""Runs of the command line, as in tests/cli, and repositories to check."""

from __future__ import annotations

import pytest

from tests.cli.conftest import buggy, clean, folder, lint

__all__ = ["buggy", "clean", "folder", "lint"]

HELPER = "import torch\n\n\ndef scale(y):\n    y += 1\n    return y\n\n\ndef _inner(y):\n    y *= 2\n    return y\n"
HELPER += "\n\nHEAD = torch.nn.Linear(2, 2)  # so that somebody is seen to train\n"
NET = """\
import torch
from torch import nn

from pkg import *
from pkg.made import ACT
from pkg.sub import helper


class Net{number}(nn.Module):
    def forward(self, x):
        h = torch.relu(x)
        h += {number}
        return helper.scale(x.exp()) + ACT(h)
"""


@pytest.fixture
def project(folder, buggy):
    """Return a project of some files that import one another: a package, a script, a notebook, an ignored module."""
    sub = folder / "pkg" / "sub"
    sub.mkdir(parents=True)
    (folder / "pkg" / "__init__.py").write_text("from pkg.sub import helper\nfrom .sub.helper import *\n")
    (sub / "__init__.py").write_text("")
    (sub / "helper.py").write_text(HELPER)
    (folder / ".gitignore").write_text("made.py\n")
    (folder / "pkg" / "made.py").write_text("import torch\n\nACT = torch.relu\n")
    for number in range(6):
        (folder / "pkg" / f"net{number}.py").write_text(NET.format(number=number) + "# more\n" * 1000 * number)
    (folder / "script.py").write_text(buggy)
    (folder / "broken.py").write_text("import torch\nx = (\n")
    (folder / "latin.py").write_bytes(b"import torch\nname = '\xe9'\n")
    return folder
