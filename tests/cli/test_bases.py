"""Files that name no framework, since the bases of their classes do, which other files have."""

from __future__ import annotations

import pytest

from inplace_lint.workspace.import_statements import derives

BASE = """\
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def act(self, x):
        return self.fc(x).sigmoid()


class Count(dict):
    pass
"""
NET = """\
from .middle import Middle


class Net(Middle):
    def forward(self, x):
        y = self.act(x)
        y += 1
        return y
"""
COUNT = """\
from .base import Count


class Words(Count):
    def forward(self, x):
        x = x + 1
        x += 1
        return x
"""
FOUND = "pkg/net.py:7:9: error[IPL101] [*] `y` is overwritten, but backward of `sigmoid` needs its old value"


@pytest.fixture
def package(folder):
    inner = folder / "pkg"
    inner.mkdir()
    (inner / "__init__.py").write_text("")
    (inner / "base.py").write_text(BASE)
    (inner / "middle.py").write_text("from .base import Base\n\n\nclass Middle(Base):\n    pass\n")
    (inner / "net.py").write_text(NET)
    (inner / "count.py").write_text(COUNT)
    return inner


@pytest.mark.parametrize("words", [("--no-cache",), ()])
def test_a_class_is_run_whose_base_is_a_module_in_another_file(lint, package, words):
    for paths in (("pkg/net.py",), (".",)):
        assert FOUND in lint(*words, "--output-format", "concise", *paths).out
    assert lint(*words, "pkg/count.py").status == 0


def test_a_kept_result_holds_while_the_file_of_the_base_names_the_framework(lint, package):
    command = ("--output-format", "concise", "pkg/net.py")
    assert FOUND in lint(*command).out
    (package / "base.py").write_text("class Base:\n    pass\n")
    assert lint(*command).status == 0
    (package / "base.py").write_text(BASE)
    assert FOUND in lint(*command).out


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("from .base import Base\nclass Net(Base): ...\n", True),
        ("from pkg.base import (\n    Other,\n    Base,\n)\nclass Net(Base, Other): ...\n", True),
        ("from . import base\nclass Net(base.Base): ...\n", True),
        ("from enum import Enum\nclass Kind(Enum): ...\n", False),
        ("from .base import make\nclass Error(ValueError): ...\n", False),
        ("from .base import Base\nclass Net: ...\n", False),
    ],
)
def test_whether_a_file_may_have_a_base_of_another_one_is_seen_in_its_text(text, answer):
    assert derives(text.encode()) is answer
