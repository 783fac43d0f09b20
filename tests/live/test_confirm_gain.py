"""`--confirm` of advice: the same numbers and less memory, shown with both figures, and fixes that wait for that."""

from __future__ import annotations

import re

import pytest

from inplace_lint.core.finding import Certainty, Finding, Proof, Severity
from inplace_lint.core.span import Span
from inplace_lint.live.confirm import confirm
from tests.live import imported

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"
NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3)
        self.last = nn.Conv2d(8, 8, 3)

    def forward(self, x):
        h = self.first(x)
"""
RELU = """\
@torch.no_grad()
def look():
    h = nn.Linear(8, 64)(torch.ones(16, 8))
    h = F.relu(h)
    return h * 2
"""
LOOK = """\
import paddle
import paddle.nn.functional as F


@paddle.no_grad()
def look():
    h = paddle.nn.Linear(8, 64)(paddle.ones([16, 8]))
    h = F.silu(h)
    return h * 2
"""
ADVICE = ("--select", "IPL601")


def advised(tmp_path, source: str, call: str, framework: str = "torch"):
    """Return the verdict on the advice, right or wrong, to make a call of a program in place."""
    path = tmp_path / "program.py"
    path.write_text(source)
    line = next(number for number, text in enumerate(source.splitlines(), 1) if call in text)
    column = source.splitlines()[line - 1].index(call)
    span = Span(str(path), line, column, line, column + len(call))
    finding = Finding(
        "IPL601", "inplace-opportunity", Severity.INFO, Certainty.ALWAYS, "", span, "", framework=framework
    )
    (found,) = confirm.confirmed([finding], confirm.Setup(imported.python()))
    assert found.verdict is not None
    return found.verdict


def kept(reason: str) -> tuple[int, int]:
    """Return the bytes kept for backward in place and as written."""
    found = re.search(r"([\d,]+) bytes kept for backward instead of ([\d,]+), a peak of", reason)
    assert found is not None, reason
    return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


@pytest.mark.parametrize(
    ("call", "numbers"),
    [
        ("F.leaky_relu(h)", "the same loss and gradients"),
        ("F.elu(h)", r"(the same loss|loss and gradients within \de-)"),
    ],
)
def test_a_gain_is_shown_with_both_figures(tmp_path, call, numbers):
    verdict = advised(tmp_path, f"{HEAD}{NET}        h = {call}\n        return self.last(h)\n", call)
    assert verdict.proof is Proof.CONFIRMED, verdict
    assert re.match(numbers, verdict.reason)
    after, before = kept(verdict.reason)
    assert 0 < after < before


def test_what_backward_refuses_is_refuted(tmp_path):
    verdict = advised(tmp_path, f"{HEAD}{NET}        return self.last(F.elu(h.sigmoid()))\n", "F.elu(h.sigmoid())")
    assert verdict.proof is Proof.REFUTED
    assert "in place it raises RuntimeError: one of the variables needed for gradient" in verdict.reason


def test_another_result_is_refuted(tmp_path):
    verdict = advised(tmp_path, f"{HEAD}{NET}        return self.last(F.leaky_relu(h)) + h.mean()\n", "F.leaky_relu(h)")
    assert verdict.proof is Proof.REFUTED
    assert re.match(r"in place its numbers differ by \de[-+]\d\d, by `Net\(\)`", verdict.reason)


def test_no_number_is_another_result(tmp_path):
    source = f"{HEAD}{NET}        return self.last(F.relu(h)) + (-h.detach().min() - 1e-9).sqrt()\n"
    verdict = advised(tmp_path, source, "F.relu(h)")
    assert verdict.proof is Proof.REFUTED, verdict
    assert verdict.reason == "in place its numbers differ, by `Net()`"


PENALTY = """\
first, middle, last = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
x = torch.rand(2, 4, requires_grad=True)
h = F.leaky_relu(first(x))
out = last(F.elu(middle(h)))
(gradient,) = torch.autograd.grad(out.sum(), x, create_graph=True)
(gradient.norm(dim=1) - 1).pow(2).mean().backward()
"""


@pytest.mark.parametrize("call", ["F.leaky_relu(first(x))", "F.elu(middle(h))"])
def test_gradients_that_are_computed_in_another_order_are_the_same(tmp_path, call):
    verdict = advised(tmp_path, HEAD + PENALTY, call)
    assert verdict.proof is Proof.CONFIRMED, verdict


def test_what_frees_nothing_is_not_confirmed(tmp_path):
    verdict = advised(tmp_path, f"{HEAD}{NET}        return self.last(F.relu6(h))\n", "F.relu6(h)")
    assert verdict.proof is Proof.NOT_REACHED
    after, before = kept(verdict.reason)
    assert after == before
    assert verdict.reason.startswith("the line ran by `Net()`, but no memory is saved: ")


def test_where_nothing_is_recorded_only_the_peak_falls(tmp_path):
    verdict = advised(tmp_path, HEAD + RELU, "F.relu(h)")
    assert verdict.proof is Proof.CONFIRMED
    assert kept(verdict.reason) == (0, 0)


@pytest.mark.paddle
def test_a_peak_of_paddle(tmp_path):
    verdict = advised(tmp_path, LOOK, "F.silu(h)", "paddle")
    assert verdict.proof is Proof.CONFIRMED, verdict


def test_numbers_that_differ_by_themselves_prove_nothing(tmp_path):
    source = f"{HEAD}import time\n\n\n{NET}        return self.last(F.leaky_relu(h)) * time.perf_counter()\n"
    verdict = advised(tmp_path, source, "F.leaky_relu(h)")
    assert verdict.proof is Proof.NOT_REACHED
    assert "differ from run to run" in verdict.reason


def test_a_fix_waits_for_the_proof(prover):
    proved = f"{HEAD}{NET}        return self.last(F.leaky_relu(h))\n"
    program = prover.write(
        proved
        + "\n\n"
        + NET.replace("Net", "Other").replace("self)", "self, made)").replace("super", "made.it()\n        super", 1)
        + "        return self.last(F.leaky_relu(h))\n"
    )
    before = program.read_text()
    judged = prover.run(*ADVICE)
    assert [row["fix"]["applicability"] for row in judged.rows] == ["safe", "unsafe"]
    assert program.read_text() == before
    prover.run(*ADVICE, "--fix")
    after = program.read_text()
    assert after.count("inplace=True") == 1
    assert after.index("inplace=True") < after.index("class Other")
