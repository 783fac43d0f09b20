"""What may refute a finding, and what may not: findings are written by hand, some of them wrong on purpose."""

from __future__ import annotations

import pytest

from inplace_lint.core.finding import Certainty, Finding, Proof, Related, Role, Severity
from inplace_lint.core.span import Span
from inplace_lint.live.confirm import confirm
from inplace_lint.live.confirm.confirm import Setup, confirmed
from inplace_lint.live.warm import Warm
from tests.live import imported

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"


@pytest.fixture(scope="module")
def torch_process():
    """Start one process with torch for all findings, each of which is proved in a fork of it."""
    process = Warm(imported.python(), "torch")
    yield process
    process.stop()


class Lent:
    """A warm process that stays warm when one who uses it is done."""

    def __init__(self, process: Warm) -> None:
        self._process = process

    def __getattr__(self, name: str) -> object:
        return getattr(self._process, name)

    def stop(self) -> None:
        """Leave the process to the next test."""


@pytest.fixture
def verdict(tmp_path, torch_process, monkeypatch):
    """Return the verdict on a made-up finding: a write at one text of a program, a save at another."""
    monkeypatch.setattr(confirm, "Warm", lambda *_words: Lent(torch_process))

    def of(source: str, write: str, save: str = "", certainty: Certainty = Certainty.ALWAYS, code: str = "IPL101"):
        path = tmp_path / "program.py"
        path.write_text(HEAD + source, encoding="utf-8")
        lines = (HEAD + source).splitlines()

        def span(text: str) -> Span:
            line = next(at for at, one in enumerate(lines, 1) if text in one)
            column = lines[line - 1].index(text)
            return Span(str(path), line, column, line, column + len(text))

        related = (Related(Role.SAVE, span(save), "saved here"),) if save else ()
        finding = Finding(
            code=code,
            name="name",
            severity=Severity.ERROR,
            certainty=certainty,
            message="message",
            span=span(write),
            label="here",
            related=related,
            framework="torch",
        )
        found = confirmed([finding], Setup(imported.python(), root=str(tmp_path)))[0].verdict
        assert found is not None
        return found.proof

    return of


RUNS = (
    "def step():\n    x = torch.randn(3, requires_grad=True)\n    y = torch.relu(x)\n    z = y * 2\n    z += 1\n"
    "    z.sum().backward()\n"
)


def test_a_run_that_saved_wrote_and_went_back_refutes(verdict):
    assert verdict(RUNS, "z += 1", "torch.relu(x)") is Proof.REFUTED


def test_without_a_backward_nothing_is_refuted(verdict):
    source = RUNS.replace("z.sum().backward()", "return None")
    assert verdict(source, "z += 1", "torch.relu(x)") is Proof.NOT_REACHED


def test_a_backward_around_the_write_refutes_nothing(verdict):
    source = RUNS.replace("z.sum().backward()", "y.sum().backward()")
    assert verdict(source, "z += 1", "torch.relu(x)") is Proof.NOT_REACHED


def test_a_save_after_the_write_refutes_nothing(verdict):
    source = (
        "def step():\n    x = torch.randn(3, requires_grad=True)\n    z = x * 2\n    z += 1\n    y = torch.relu(z)\n"
        "    y.sum().backward()\n"
    )
    assert verdict(source, "z += 1", "torch.relu(z)") is Proof.NOT_REACHED


def test_without_gradients_nothing_is_refuted(verdict):
    source = RUNS.replace("requires_grad=True", "requires_grad=False").replace("z.sum().backward()", "return z")
    assert verdict(source, "z += 1", "torch.relu(x)") is Proof.NOT_REACHED


def test_an_evaluation_refutes_nothing(verdict):
    source = (
        "class Net(nn.Module):\n    def forward(self, x):\n        y = torch.relu(x)\n        z = y * 2\n"
        "        z += 1\n        return z\n\n\ndef step():\n    x = torch.randn(3, requires_grad=True)\n"
        "    Net().eval()(x).sum().backward()\n"
    )
    assert verdict(source, "z += 1", "torch.relu(x)", Certainty.SOMETIMES) is Proof.NOT_REACHED


def test_a_program_that_raises_afterwards_refutes_nothing(verdict):
    source = RUNS + "    raise ValueError\n"
    assert verdict(source, "z += 1", "torch.relu(x)") is Proof.NOT_REACHED


MADE_UP = "def gate(x):\n    y = torch.relu(x)\n    z = y * 2\n    z += 1\n    return z\n"


def test_made_up_inputs_refute_nothing(verdict):
    assert verdict(MADE_UP, "z += 1", "torch.relu(x)") is Proof.NOT_REACHED


def test_an_argument_that_runs_before_the_save_is_not_the_save(verdict):
    # In place, `silu_` copies its input: a call on the line of the save, and not the save.
    source = (
        "class Gate(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.silu = nn.SiLU(inplace=True)\n        self.linear = nn.Linear(4, 4)\n\n"
        "    def forward(self, x):\n        return self.linear(self.silu(x))\n\n\n"
        "def step():\n    x = torch.randn(2, 4, requires_grad=True)\n    Gate()(x * 1).sum().backward()\n"
    )
    assert verdict(source, "inplace=True", "self.linear(self.silu(x))", code="IPL102") is Proof.NOT_REACHED


def test_a_write_that_breaks_under_another_rule_is_not_refuted(verdict):
    source = MADE_UP.replace("y * 2", "torch.exp(y)")
    assert verdict(source, "z += 1", "torch.relu(x)", code="IPL206") is Proof.NOT_REACHED


def test_silent_findings_are_never_refuted(verdict):
    assert verdict(RUNS, "z += 1", "torch.relu(x)", code="IPL301") is Proof.NOT_REACHED


def test_opinion_gets_no_verdict(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + RUNS, encoding="utf-8")
    finding = Finding(
        "IPL501", "name", Severity.INFO, Certainty.ALWAYS, "m", Span(str(path), 9, 4, 9, 10), "here", framework="torch"
    )
    assert confirmed([finding], Setup(imported.python()))[0].verdict is None
