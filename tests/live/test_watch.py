"""What users have for their own tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import inplace_lint

ROOT = Path(__file__).resolve().parents[2]


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, state):
        gate = self.fc(x).sigmoid()
        gate += state["bias"]
        return gate


class Shift(nn.Module):
    def forward(self, x, other):
        x += 1
        return x + other


def broken():
    Gate()(torch.rand(2, 4), {"bias": 1}).sum().backward()


def healthy():
    nn.Linear(4, 4)(torch.rand(2, 4)).sum().backward()


def test_watch_gives_findings_and_lets_backward_go_on():
    with inplace_lint.watch() as seen:
        broken()
    (finding,) = seen.findings
    assert (finding.code, finding.symbol, finding.function) == ("IPL101", "gate", "Gate.forward")


def test_after_a_watch_the_framework_checks_again_and_is_as_it_was():
    before = (nn.Module.__init__, torch.autograd.graph.disable_saved_tensors_hooks, torch.autograd.Function.apply)
    with inplace_lint.watch():
        y = torch.rand(3, requires_grad=True).exp()
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        broken()
    after = (nn.Module.__init__, torch.autograd.graph.disable_saved_tensors_hooks, torch.autograd.Function.apply)
    assert before == after


def test_assert_no_inplace_bugs_is_a_decorator_with_and_without_a_call_and_a_context():
    inplace_lint.assert_no_inplace_bugs(healthy)()
    inplace_lint.assert_no_inplace_bugs()(healthy)()
    with inplace_lint.assert_no_inplace_bugs():
        healthy()
    for call in (inplace_lint.assert_no_inplace_bugs(broken), inplace_lint.assert_no_inplace_bugs()(broken)):
        with pytest.raises(AssertionError, match=r"error\[IPL101\] modified-after-save: `gate` is overwritten"):
            call()


def test_an_error_of_the_framework_is_the_cause_of_the_failure():
    leaf = torch.rand(3, requires_grad=True)
    with pytest.raises(AssertionError, match="IPL201") as failure, inplace_lint.assert_no_inplace_bugs():
        leaf += 1
    assert "a leaf Variable" in str(failure.value.__cause__)


def test_another_error_passes_unchanged():
    with pytest.raises(ZeroDivisionError), inplace_lint.assert_no_inplace_bugs():
        _ = 1 / 0


def test_assert_arguments_unchanged_names_the_argument_and_the_line():
    x, other = torch.rand(2, 4), torch.rand(2, 4)
    assert inplace_lint.assert_arguments_unchanged(Gate(), x, {"bias": torch.ones(4)}).shape == (2, 4)
    with pytest.raises(
        AssertionError, match=r"Shift changes its arguments: `x` is written at .*test_watch.py:.*x \+= 1"
    ):
        inplace_lint.assert_arguments_unchanged(Shift(), x, other)
    with pytest.raises(AssertionError, match=r"`batch\['image'\]` is written at"):
        inplace_lint.assert_arguments_unchanged(lambda batch: batch["image"].mul_(2), {"image": x})


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'wacth'"):
        _ = inplace_lint.wacth


def test_importing_the_package_imports_nothing_of_it():
    program = "import sys, inplace_lint\nassert not any(name.startswith('inplace_lint.') for name in sys.modules)"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_a_test_that_asks_for_the_fixture_fails_by_itself(tmp_path):
    (tmp_path / "test_users.py").write_text(
        "import torch\n\n\ndef test_broken(no_inplace_bugs):\n    y = torch.rand(3, requires_grad=True).exp()\n"
        "    y += 1\n    y.sum().backward()\n\n\ndef test_healthy(no_inplace_bugs):\n"
        "    torch.rand(3, requires_grad=True).exp().sum().backward()\n    assert not no_inplace_bugs.findings\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "inplace_lint.live.plugin", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "error[IPL101] modified-after-save" in done.stdout
