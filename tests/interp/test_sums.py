"""A sum of losses keeps their graphs wherever its own memory is."""

from __future__ import annotations

from inplace_lint.driver.analyze_file import Options, check_file

PROGRAM = """\
import torch


def epoch(net: torch.nn.Linear, opt: torch.optim.SGD, loader, device):
    total = torch.tensor(0.0).to(device)
    for x in loader:
        loss = net(x).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss
    return total.item()
"""


def test_a_sum_that_may_have_been_moved_needs_no_assumption() -> None:
    """Whether `to` returns the tensor itself or a copy, what is added to it keeps its graph."""
    findings = check_file("a.py", PROGRAM, Options()).findings
    assert [(one.code, one.assumptions) for one in findings] == [("IPL308", ())]
