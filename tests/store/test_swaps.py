"""A file is analysed again when one that it imports begins, or ceases, to set what it uses of the framework."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_lint.config.settings import Settings
from inplace_lint.driver import session
from inplace_lint.driver.store import Store
from inplace_lint.rules import RULE_OF

NET = """
import torch
from torch import nn
import patches


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        h = torch.sigmoid(self.linear(x))
        h.mul_(2)
        return h.sum()
"""
PLAIN = "import torch\n\nSCALE = 2\n"
SETS = "import torch\n\nSCALE = 2\ntorch.sigmoid = lambda x: x + SCALE\n"
SETS_METHOD = "import torch\n\nSCALE = 2\n\n\ndef patch():\n    torch.Tensor.mul_ = torch.Tensor.mul\n"
HOOKS = """
from torch.nn.modules.module import register_module_forward_hook


def patch():
    register_module_forward_hook(lambda module, given, output: output.clone())
"""


def _found(store: Store | None) -> int:
    plan = session.Plan(
        Settings(root=Path.cwd(), jobs=1),
        lambda _: Settings(root=Path.cwd(), jobs=1),
        lambda _: frozenset(RULE_OF),
        store=store,
    )
    outcome = session.run([Path()], {}, plan)
    assert not outcome.failures
    return len(outcome.findings)


@pytest.mark.parametrize(
    ("function", "patches"), [("torch.sigmoid", SETS), ("torch.sigmoid", SETS_METHOD), ("nn.Sigmoid()", HOOKS)]
)
def test_what_an_imported_file_sets_counts_at_once(tmp_path, monkeypatch, function, patches):
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(NET.replace("torch.sigmoid", function), encoding="utf-8")
    for text, found in ((PLAIN, 1), (patches, 0), (PLAIN, 1)):
        Path("patches.py").write_text(text, encoding="utf-8")
        assert (_found(None), _found(Store(Path("kept")))) == (found, found)
