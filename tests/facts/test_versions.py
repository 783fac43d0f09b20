"""What older versions of the frameworks did differently: facts carry ranges, and the version asked for chooses."""

from __future__ import annotations

import pytest

from inplace_lint.driver.analyze_file import Options, check_file

STEP = """\
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
h = torch.rand(2, 3, requires_grad=True)
loss = net(h).sum()
loss.backward(retain_graph=True)
opt.step()
loss.backward()
"""
HOOKED = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(inplace=True))
net[0].register_full_backward_hook(lambda *given: None)
net(torch.rand(2, 3))
"""
KEPT = """\
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.rand(2, 3)).sum().backward()
grads = [net.weight.grad]
opt.zero_grad()
print(grads[0].norm())
"""


def found(source: str, version: str | None) -> set[tuple[str, str]]:
    versions = () if version is None else (("torch", version),)
    return {(one.code, one.severity.value) for one in check_file("a.py", source, Options(versions)).findings}


@pytest.mark.parametrize("version", [None, "2.13.0", "1.5", "1.5.1+cu101"])
def test_a_step_before_backward_raises_since_1_5(version: str | None) -> None:
    assert found(STEP, version) == {("IPL103", "error")}


@pytest.mark.parametrize("version", ["1.4.0", "1.0"])
def test_before_1_5_it_was_silent(version: str) -> None:
    assert found(STEP, version) == {("IPL103", "warning")}


def test_full_backward_hooks_are_known_since_1_8() -> None:
    assert found(HOOKED, "1.8") == found(HOOKED, None) == {("IPL209", "error")}
    assert found(HOOKED, "1.7.1") == set()


def test_gradients_were_zeroed_in_place_until_1_13_and_are_taken_away_since_2_0() -> None:
    assert found(KEPT, "1.13.1") == {("IPL307", "warning")}
    assert found(KEPT, "2.0") == found(KEPT, None) == set()
