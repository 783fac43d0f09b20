"""Tracebacks of the real frameworks, explained."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inplace_lint.cli.explain import explain
from tests.cli.forked import ROOT

RESIDUAL = """\
import torch
import torch.nn.functional as F

x = torch.ones(2, 3, requires_grad=True)
y = F.relu(x * 2)
y += 1
y += 1
{}
y.sum().backward()
"""
TORCH = {
    "x = torch.ones(2, requires_grad=True)\nx += 1": ("IPL201", "leaf-write"),
    "x = torch.ones(2, requires_grad=True)\nx[0] = 1": ("IPL202", "leaf-view-write"),
    "a, b = torch.ones(2, 2, requires_grad=True).mul(2).unbind()\na += 1": ("IPL203", "multi-view-write"),
    "x = torch.ones(1).expand(3)\nx += 1": ("IPL206", "overlapping-write"),
    "x = torch.ones(2, dtype=torch.long)\nx += 0.5": ("IPL207", "shape-or-dtype-write"),
    "x = torch.ones(2)\nx += torch.ones(3, 2)": ("IPL207", "shape-or-dtype-write"),
    "x = torch.ones(2, requires_grad=True)\ntorch.exp(x, out=torch.empty(2))": ("IPL208", "out-with-grad"),
    "with torch.inference_mode():\n    x = torch.ones(2)\nx += 1": ("IPL205", "inference-tensor-write"),
}


@pytest.fixture(scope="module")
def children() -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Start one process a framework, of which a program is a fork."""
    started: dict[str, subprocess.Popen[str]] = {}

    def child(framework: str) -> subprocess.Popen[str]:
        if framework not in started:
            command = [sys.executable, "-m", "tests.cli.raising", framework]
            started[framework] = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        return started[framework]

    yield child
    for process in started.values():
        process.communicate()


@pytest.fixture
def traceback_of(folder, children) -> Callable[..., str]:
    def of(source: str, name: str = "train.py") -> str:
        (folder / name).write_text(source)
        process = children("paddle" if "import paddle" in source else "torch")
        process.stdin.write(f"{folder / name}\n")
        process.stdin.flush()
        text = json.loads(process.stdout.readline())
        assert "Traceback (most recent call last):" in text
        return text

    return of


def explained(lint, text: str, *paths: str):
    return lint("explain", *paths, stdin=text.encode())


def test_a_stale_save_is_reported_in_plain_words(lint, folder, traceback_of):
    ran = explained(lint, traceback_of(RESIDUAL.format("")))
    assert ran.status == 0
    assert ran.out == (
        "PyTorch kept the result of `Relu`, of shape [2, 3], during the forward pass, "
        "because backward needs its value.\n"
        "After that, it was written in place 2 times, and the old value is lost.\n"
        "The traceback ends in backward, so its last line is neither the one that kept the tensor "
        "nor the one that wrote to it.\n"
        f"raised at: {folder / 'train.py'}:9, in <module>\n"
        "Rules about it: IPL101, IPL102, IPL103 (`inplace-lint rule IPL101`).\n"
    )


def test_of_a_project_the_lines_that_fit_are_named(lint, folder, traceback_of):
    text = traceback_of(RESIDUAL.format(""))
    (folder / "other.py").write_text(RESIDUAL.format("").replace("F.relu", "torch.exp"))
    ran = explained(lint, text, ".")
    assert ran.status == 0
    assert "5 | y = F.relu(x * 2)\n" in ran.out
    assert "6 | y += 1\n" in ran.out
    assert "other.py" not in ran.out  # that one is about `exp`


def test_files_of_the_traceback_come_first(lint, folder, traceback_of):
    (folder / "a.py").write_text(RESIDUAL.format(""))
    ran = explained(lint, traceback_of(RESIDUAL.format("")), ".")
    assert ran.out.index("train.py:6") < ran.out.index("a.py:6")


def test_anomaly_mode_names_the_line_that_kept_it(lint, folder, traceback_of):
    source = RESIDUAL.format("").replace("\nx = ", "\ntorch.autograd.set_detect_anomaly(True)\nx = ", 1)
    ran = explained(lint, traceback_of(source))
    assert f"kept by: {folder / 'train.py'}:6, in <module>\n" in ran.out
    assert f"raised at: {folder / 'train.py'}:10, in <module>\n" in ran.out


@pytest.mark.parametrize("program", TORCH)
def test_a_refused_write_is_reported_with_its_rule(lint, folder, program, traceback_of):
    code, name = TORCH[program]
    ran = explained(lint, traceback_of(f"import torch\n{program}\n"))
    assert ran.out.startswith(f"PyTorch refused an in-place write ({name}): ")
    assert f"Rules about it: {code} (`inplace-lint rule {code}`).\n" in ran.out


@pytest.mark.paddle
def test_paddle_is_understood(lint, folder, traceback_of):
    source = (
        "import paddle\nx = paddle.ones([2])\nx.stop_gradient = False\ny = x.exp()\ny.add_(x)\ny.sum().backward()\n"
    )
    ran = explained(lint, traceback_of(source), "train.py")
    assert ran.out.startswith("Paddle kept a tensor during the forward pass")
    assert "5 | y.add_(x)\n" in ran.out
    source = "import paddle\nx = paddle.ones([2])\nx.stop_gradient = False\nx.add_(x)\n"
    ran = explained(lint, traceback_of(source))
    assert "Rules about it: IPL201" in ran.out


def test_another_error_is_not_ours(lint):
    assert explained(lint, "Traceback (most recent call last):\nValueError: no\n") == (
        2,
        "",
        "error: this text contains no error message of torch or paddle about in-place operations\n",
    )


def test_a_clean_project_says_that_nothing_fits(lint, folder, clean, traceback_of):
    text = traceback_of(RESIDUAL.format(""), "t.py")
    (folder / "c.py").write_text(clean)
    assert explained(lint, text, "c.py").out.endswith("\n\nNo finding in these paths matches.\n")


def test_errors_of_public_threads_lead_to_the_right_rule():
    """
    Each line has the address of a thread, an error as it is printed there, and the rules that may come first.

    `missed`: the text alone leads to another rule.
    """
    wrong = []
    for line in (Path(__file__).parent / "public_errors.jsonl").read_text(encoding="utf-8").splitlines():
        thread = json.loads(line)
        found = explain(thread["text"])
        first = next(iter(found.codes), None) if found is not None else "no error is found"
        if (first in (thread["rules"] or [None])) is thread.get("missed", False):
            wrong.append((thread["source"], found))
    assert not wrong


OTHERS = [
    "element 0 of tensors does not require grad and does not have a grad_fn",
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    "One of the differentiated Tensors appears to not have been used in the graph.",
    "cannot assign 'torch.FloatTensor' as parameter 'weight' (torch.nn.Parameter or None expected)",
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.",
    "forward() got an unexpected keyword argument 'mask'",
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed.",
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor",
    "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated.",
    "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
]


@pytest.mark.parametrize("message", OTHERS)
def test_a_few_words_in_common_do_not_make_an_error_ours(message):
    assert explain(f"Traceback (most recent call last):\nRuntimeError: {message}\n") is None


def test_findings_at_the_line_that_raised_come_alone(lint, folder, traceback_of):
    leaf = "import torch\nx = torch.ones(2, 2, requires_grad=True)\n"
    (folder / "other.py").write_text(f"{leaf}x[1] = 1\n")
    ran = explained(lint, traceback_of(f"{leaf}x[0] = 1\nx += 1\n"), ".")
    assert "error[IPL202]" in ran.out
    assert "train.py:3:1" in ran.out
    assert "IPL201" not in ran.out
    assert "other.py" not in ran.out


def test_findings_of_another_framework_are_left_out(lint, folder, traceback_of):
    (folder / "p.py").write_text("import paddle\nx = paddle.ones([2])\nx.stop_gradient = False\nx.add_(x)\n")
    ran = explained(
        lint, traceback_of("import torch\nx = torch.ones(2, requires_grad=True)\nx.add_(x)\n", "t.py"), "p.py"
    )
    assert ran.out.endswith("\n\nNo finding in these paths matches.\n")


STEP = """\
import torch

net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.ones(1, 4)).sum()
loss.backward(retain_graph=True)
optimizer.step()
loss.backward()
"""


def test_a_weight_that_an_optimizer_wrote_is_recognised(lint, folder, traceback_of):
    ran = explained(lint, traceback_of(STEP), ".")
    assert "It is most likely the transposed weight of a linear layer: " in ran.out
    assert "Rules about it: IPL103, " in ran.out
    assert "train.py:7:1" in ran.out


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp().sum()\ny.backward()\ny.backward()\n",
        pytest.param(
            "import paddle\nx = paddle.ones([2])\nx.stop_gradient = False\n"
            "y = x.exp().sum()\ny.backward()\ny.backward()\n",
            marks=pytest.mark.paddle,
        ),
    ],
)
def test_a_second_backward_through_one_graph(lint, source, traceback_of):
    ran = explained(lint, traceback_of(source))
    assert " frees what backward needs when it has run, and backward ran through this graph twice.\n" in ran.out
    assert "detach it where it is kept" in ran.out
