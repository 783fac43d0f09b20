"""A changed default reruns the files that use it, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_lint.config.settings import Settings
from inplace_lint.driver import session
from inplace_lint.driver.store import Store
from inplace_lint.rules import RULE_OF

LAYERS = """
import torch
from torch import nn


class Act(nn.Module):
    def __init__(self, size, inplace=False, slope=0.1):
        super().__init__()
        self.inplace = inplace
        self.slope = slope

    def forward(self, x, scale=1.0):
        return x.mul_(self.slope) if self.inplace else x * scale
"""
USERS = {
    "passes.py": "self.act = Act(3, inplace=False)",
    "leaves.py": "self.act = Act(3)",
    "derives.py": "self.act = Own(3)",
    "unpacks.py": "self.act = Act(**config())",
}
NET = """
import torch
from torch import nn
from pkg.layers import Act


class Own(Act):
    pass


def config():
    return {{"size": 3}}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {act}

    def forward(self, x):
        y = x.exp()
        return self.act(y)


Net()(torch.rand(3, requires_grad=True)).sum().backward()
"""


def _run(store: Store | None) -> tuple[list[str], int]:
    plan = session.Plan(
        Settings(root=Path.cwd(), jobs=1),
        lambda _: Settings(root=Path.cwd(), jobs=1),
        lambda _: frozenset(RULE_OF),
        store=store,
    )
    outcome = session.run([Path("pkg")], {}, plan)
    assert not outcome.failures
    return sorted(map(repr, outcome.findings)), outcome.counters["files_from_cache"]


@pytest.fixture
def layers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pkg").mkdir()
    for name, act in USERS.items():
        Path("pkg", name).write_text(NET.format(act=act), encoding="utf-8")
    path = Path("pkg/layers.py")
    path.write_text(LAYERS, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("default", "kept", "found"),
    [
        ("inplace=True", {"passes.py"}, True),
        ("slope=0.2", set(), False),
        ("scale=2.0", set(), False),
        ("inplace=0", {"passes.py"}, False),
        ("inplace=bool(0)", set(), False),
    ],
)
def test_what_passes_an_argument_does_not_depend_on_its_default(layers, default, kept, found):
    store = Store(Path("kept"))
    assert _run(store) == ([], 0)
    name = default.partition("=")[0]
    before = next(part for part in ("inplace=False", "slope=0.1", "scale=1.0") if part.startswith(name))
    layers.write_text(LAYERS.replace(before, default), encoding="utf-8")
    findings, unchanged = _run(store)
    cold, _ = _run(None)
    assert findings == cold
    assert bool(findings) is found
    assert unchanged == len(kept)


def test_values_of_defaults_are_read_where_that_is_recorded():
    source = Path(session.__file__).parents[1] / "interp"
    reads = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if any(
            f"{name}.defaults" in path.read_text(encoding="utf-8") for name in ("closure", "method", "init", "function")
        )
    }
    # Binding records those that a call leaves out; the checker looks for a tensor, which no constant is.
    assert reads == {"context.py", "call/closures.py", "checkers/kept_values.py"}
