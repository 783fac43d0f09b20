"""What a step of training, which runs a backward of its own, is called on, and what it returns."""

from __future__ import annotations

import pytest

SOLVER = """\
import torch


class Scaled:
    def scaled(self, x):
        x /= x.std()
        return x


class Solver:
    def __init__(self, net, optimizer, scaler):
        self.net, self.optimizer, self.scaler = net, optimizer, scaler

    def step(self, batch):
        loss = self.net(self.scaler.scaled(batch.to("cpu"))).sum()
        loss.backward()
        self.optimizer.step()
        {clears}

{decorated}
    def regenerate(self, wav):
        return self.net(self.scaler.scaled(wav))

    def evaluate(self, rows):
        return self.regenerate(self.net(rows))
"""
CLEARS, DECORATED = "self.optimizer.zero_grad()", "    @torch.no_grad()"


@pytest.mark.parametrize(
    ("clears", "decorated", "told"),
    [(CLEARS, DECORATED, False), ("pass", DECORATED, True), (CLEARS, "", True)],
    ids=["step", "no step", "recorded"],
)
def test_what_a_step_of_training_hands_on_is_data(lint, folder, clears, decorated, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "solver.py").write_text(SOLVER.format(clears=clears, decorated=decorated))
    assert ("solver.py:6:9: warning[IPL101]" in lint("--output-format=concise", ".").out) is told


STEP = """\
import torch
from torch import nn


class Step:
    def __init__(self):
        self.net = nn.Linear(3, 3)
        self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1)

    def run(self, x):
        out = self.net(self.net(x))
        out.sum().backward(retain_graph=True)
        self.optimizer.step()
        return {"out": out}

"""
USE = """\
from step import Step


def fit(loader):
    one = Step()
    for x in loader:
        logged = one.run(x)
        {then}
"""


@pytest.mark.parametrize(
    ("then", "told"), [("print(logged)", False), ("logged['out'].mean().backward()", True), (None, True)]
)
def test_who_trains_through_what_a_step_returns_has_to_be_seen(lint, folder, then, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "step.py").write_text(STEP)
    if then is not None:
        (folder / "use.py").write_text(USE.replace("{then}", then))
    assert ("step.py:13:9: warning[IPL103]" in lint("--output-format=concise", "step.py").out) is told


ATTACK = """\
import torch


def clipped(eta, most):
    norm = (eta**2).sum().sqrt()
    eta *= most / norm
    return eta


def attack(net, x, most):
    other = x.clone().detach().requires_grad_(True)
    net(other).sum().backward()
    return x + clipped(other + other.grad - x, most)
"""


def test_what_an_attack_returns_may_be_trained_on(lint, folder):
    (folder / "pyproject.toml").write_text("")
    (folder / "attack.py").write_text(ATTACK)
    (folder / "use.py").write_text("from attack import attack\n\n\ndef show(net, x):\n    print(attack(net, x, 0.1))\n")
    assert "attack.py:6:5: warning[IPL101]" in lint("--output-format=concise", "attack.py").out
