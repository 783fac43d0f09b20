"""Files that name no framework, since they import all names of another file which does."""

from __future__ import annotations

import pytest

NET = """\
from .names import *


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = F.sigmoid(self.fc(x))
        y += x
        return y
"""
NAMES = "from torch import nn\nfrom torch.nn import functional as F\n"


@pytest.fixture
def package(folder):
    inner = folder / "pkg"
    inner.mkdir()
    (inner / "__init__.py").write_text("")
    (inner / "net.py").write_text(NET)
    (inner / "names.py").write_text("from .more import *\n")
    (inner / "more.py").write_text(NAMES)
    return inner


FOUND = "pkg/net.py:11:9: error[IPL101] [*] `y` is overwritten, but backward of `sigmoid` needs its old value"


@pytest.mark.parametrize("words", [("--no-cache",), ()])
def test_names_of_a_framework_come_through_files_of_the_project(lint, package, words):
    for paths in (("pkg/net.py",), (".",)):
        assert FOUND in lint(*words, "--output-format", "concise", *paths).out


def test_a_kept_result_holds_while_these_files_name_the_framework(lint, package):
    command = ("--output-format", "concise", "pkg/net.py")
    assert FOUND in lint(*command).out
    (package / "more.py").write_text("from other import nn, F\n")
    assert lint(*command).status == 0
    (package / "more.py").write_text(NAMES)
    assert FOUND in lint(*command).out
    (package / "names.py").write_text("")
    assert lint(*command).status == 0


def test_files_that_import_each_other_end(lint, package):
    (package / "more.py").write_text("from .names import *\nfrom .net import *\n")
    assert lint("--no-cache", ".").status == 0


def test_a_package_that_cannot_be_read_gives_the_framework_itself(lint, folder):
    (folder / "basics.py").write_text(
        "from fastai.vision.all import *\n\n\nweights = torch.randn(3, 1).requires_grad_()\nweights[0] *= 1.0001\n"
    )
    (folder / "local.py").write_text(
        "from .missing import *\n\nweights = torch.randn(3).requires_grad_()\nweights *= 2\n"
    )
    assert "basics.py:5:1: error[IPL202]" in lint("--no-cache", "--output-format", "concise", "basics.py").out
    assert lint("--no-cache", "local.py").status == 0
