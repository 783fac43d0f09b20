"""Modules of the own package that a file imports by a name that is known."""

from __future__ import annotations

import pytest

BACKEND = """\
import torch


def act(x):
    return torch.sigmoid(x)
"""
NET = """\
import importlib
import torch

NAME = "backend"
backend = {imported}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = backend.{function}(self.fc(x))
        y += 1
        return y
"""


@pytest.fixture
def package(folder):
    inner = folder / "pkg"
    inner.mkdir()
    (inner / "__init__.py").write_text("")
    (inner / "backend.py").write_text(BACKEND + "\n\ndef copy(x):\n    return act(x).clone()\n")
    return inner


@pytest.mark.parametrize(
    "imported",
    [
        'importlib.import_module(".backend", __package__)',
        'importlib.import_module(f".{NAME}", package=__package__)',
        'importlib.import_module("pkg.backend")',
        '__import__("pkg.backend", fromlist=["act"])',
    ],
)
@pytest.mark.parametrize(("function", "errors"), [("act", 1), ("copy", 0)])
def test_what_it_has_is_known(lint, package, imported, function, errors):
    (package / "net.py").write_text(NET.format(imported=imported, function=function))
    assert lint("--no-cache", "--output-format", "concise", "pkg/net.py").out.count("error[IPL101]") == errors


@pytest.mark.parametrize(
    "imported",
    [
        'importlib.import_module(".backend", somewhere)',
        'importlib.import_module(".absent", __package__)',
        'importlib.import_module(".")',
        '__import__("pkg.backend")',
    ],
)
def test_nothing_is_known_of_another(lint, package, imported):
    (package / "net.py").write_text(NET.format(imported=imported, function="act"))
    assert lint("--no-cache", "pkg/net.py").status == 0
