"""Tracebacks of the real frameworks, explained."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inplace_lint.cli.explain import explain
from tests.cli import raising
from tests.cli.forked import ROOT
from tests.live import imported

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
            command = [imported.python(framework), str(Path(raising.__file__)), framework]
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
        "PyTorch kept a tensor of shape [2, 3] during the forward pass, because backward needs its value.\n"
        "After that, it was written in place 2 times, and the old value is lost.\n"
        "The tensor is now the output of `Relu`: that is the operation that made it, which may have kept it, "
        "or the write.\n"
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


def test_findings_of_the_program_that_raised_are_listed_and_others_are_counted(lint, folder, traceback_of):
    for name in ("a.py", "b.py"):
        (folder / name).write_text(RESIDUAL.format(""))
    ran = explained(lint, traceback_of(RESIDUAL.format("")), ".")
    assert "train.py:6" in ran.out
    assert "a.py:6" not in ran.out
    assert ran.out.endswith("\n2 more could match, in files that the program of the traceback does not import.\n")


def test_the_program_has_the_files_that_it_imports(lint, folder, traceback_of):
    for name in ("net.py", "other.py"):
        (folder / name).write_text(
            "import torch\n\n\ndef run(x):\n    y = torch.exp(x * 2)\n    y += 1\n    return y\n"
        )
    source = "import torch\nfrom net import run\n\nrun(torch.ones(2, requires_grad=True)).sum().backward()\n"
    ran = explained(lint, traceback_of(source), ".")
    assert "net.py:6" in ran.out
    assert "other.py" not in ran.out


WRITERS = {
    "an in-place activation": (
        (
            "conv, relu = torch.nn.Conv2d(3, 3, 1), torch.nn.ReLU(inplace=True)\n"
            "x = torch.ones(2, 3, 4, 4, requires_grad=True) * 2\n"
            "y = conv(x)\n"
            "(relu(x) + y).sum().backward()\n"
        ),
        "Relu",
        "IPL102",
    ),
    "a method": (
        "x = torch.ones(3, requires_grad=True) * 2\ny = x.sin()\nx.sigmoid_()\n(x + y).sum().backward()\n",
        "Sigmoid",
        "IPL101",
    ),
    "an operator": (
        "x = torch.ones(3, requires_grad=True) * 2\ny = x.sin()\nx /= 2\ny.sum().backward()\n",
        "Div",
        "IPL101",
    ),
    "a part": (
        "x = torch.ones(3, requires_grad=True) * 2\ny = x.sin()\nx[0] = 1\ny.sum().backward()\n",
        "CopySlices",
        "IPL101",
    ),
    "the keeper": (
        (
            "y = torch.ones(3, requires_grad=True).norm(dim=0, keepdim=True)\nwith torch.no_grad():\n    y += 1\n"
            "y.sum().backward()\n"
        ),
        "LinalgVectorNorm",
        "IPL101",
    ),
}


@pytest.mark.parametrize("case", WRITERS)
def test_the_operation_that_is_named_may_be_the_write(lint, folder, case, traceback_of):
    source, node, code = WRITERS[case]
    other = "z = (torch.ones(3, requires_grad=True) * 3).exp()\nz *= 2\nz.sum().backward()\n"
    text = traceback_of(f"import torch\n{source}")
    assert f"{node}, is at version" in text
    (folder / "train.py").write_text(f"import torch\n{other}{source}")  # named by the operation, not by the line
    ran = explained(lint, text, ".")
    assert f"The tensor is now the output of `{node}`: " in ran.out
    first, second = re.findall(r"(?:error|warning)\[(IPL\d+)\].*?\n(?: .*\n)*? +--> train\.py:(\d+)", ran.out)
    assert first[0] == code
    assert second == ("IPL101", "3")


def test_the_operation_is_looked_for_elsewhere_where_the_program_is_not_in_the_paths(lint, folder, traceback_of):
    text = traceback_of(f"import torch\n{WRITERS['a method'][0]}", "gone.py")
    (folder / "gone.py").rename(folder / "a.py")
    (folder / "b.py").write_text(RESIDUAL.format(""))
    ran = explained(lint, text, "a.py", "b.py")
    assert "a.py:4" in ran.out
    assert "b.py" not in ran.out


def test_a_checkpoint_that_ran_again_comes_first(lint, folder, traceback_of):
    source = (
        "import torch\nfrom torch.utils.checkpoint import checkpoint\n\n"
        "w = torch.ones(3, requires_grad=True)\nx = w * 2\ny = x.sin()\nx += 1\n"
        "h = w * 3\nz = checkpoint(torch.sin, h, use_reentrant=False)\nh += 1\n(z + 0 * y.detach()).sum().backward()\n"
    )
    text = traceback_of(source)
    (folder / "train.py").write_text(source.replace("0 * y.detach()", "y"))
    ran = explained(lint, text, ".")
    assert ran.out.index("backward of `checkpoint`") < ran.out.index("backward of `sin`")


def test_anomaly_mode_names_the_line_that_kept_it(lint, folder, traceback_of):
    source = RESIDUAL.format("").replace("\nx = ", "\ntorch.autograd.set_detect_anomaly(True)\nx = ", 1)
    ran = explained(lint, traceback_of(source))
    assert f"kept by: {folder / 'train.py'}:6, in <module>\n" in ran.out
    assert f"raised at: {folder / 'train.py'}:10, in <module>\n" in ran.out


@pytest.mark.parametrize("program", TORCH)
def test_a_refused_write_is_reported_with_its_rule(lint, folder, program, traceback_of):
    code, name = TORCH[program]
    ran = explained(lint, traceback_of(f"import torch\n{program}\n"))
    assert ran.out.startswith(
        f"PyTorch refused an in-place write ({name}): the last line of your code in the traceback is the write, "
        "or the call that makes it.\n"
    )
    also = ", IPL211" if "torch.ones(3, 2)" in program else ""  # vmap refuses in the same words
    assert f"Rules about it: {code}{also} (`inplace-lint rule {code}`).\n" in ran.out


NO_WRITE = {
    "a, b = torch.ones(2, 2, requires_grad=True).mul(1).unbind()\na._base.add_(1)\na.sum()": (
        "refused to use a view, because its base or another view of it had been written in place",
        "IPL203",
    ),
    "x = torch.ones(2, requires_grad=True) * 1\nwith torch.no_grad():\n    v = x.view(-1)\nx += 1\nv.sum()": (
        "refused to use a view, because its base or another view of it had been written in place",
        "IPL204",
    ),
    "with torch.inference_mode():\n    x = torch.ones(2)\ntorch.ones(2, requires_grad=True) * x": (
        "refused to track a tensor that was made in inference mode. Nothing is written in place",
        "IPL205",
    ),
    "x = torch.ones(2, requires_grad=True) * 1\nx.requires_grad = False": (
        "refused to change whether a computed tensor requires grad. Nothing is written in place",
        "IPL207",
    ),
    "x = torch.ones(2, requires_grad=True) * 1\nx[:1].detach_()": ("refused to detach a view in place", "IPL207"),
    "x = torch.ones(2, requires_grad=True) * 1\nx.set_(torch.ones(2))\nx.sum().backward()": (
        "accepted an in-place call, and backward then found no derivative for it",
        "IPL207",
    ),
}
NO_WRITE_OF_PADDLE = {
    "paddle.nn.ReLU(inplace=True)": ("has no such argument", "IPL212"),
    "m = paddle.nn.Linear(2, 2)\nm.weight = m.weight + 1": ("refused to replace a parameter by a tensor", "IPL212"),
    "paddle.ones([2], 'int32') + paddle.ones([2])": (
        "refused to compute with these dtypes together, in place or not",
        "IPL207",
    ),
}


@pytest.mark.parametrize(
    ("framework", "program"),
    [
        *(("torch", program) for program in NO_WRITE),
        *(pytest.param("paddle", program, marks=pytest.mark.paddle) for program in NO_WRITE_OF_PADDLE),
    ],
)
def test_where_the_last_line_is_not_the_write_the_error_is_told_otherwise(lint, framework, program, traceback_of):
    meaning, code = {**NO_WRITE, **NO_WRITE_OF_PADDLE}[program]
    ran = explained(lint, traceback_of(f"import {framework}\n{program}\n"))
    assert meaning in ran.out.partition("\n")[0]
    assert "is the write" not in ran.out
    assert f"Rules about it: {code} " in ran.out


@pytest.mark.parametrize(
    ("message", "meaning", "code"),
    [
        ("leaf variable has been moved into the graph interior", "(leaf-view-write), but only in backward", "IPL202"),
        ("Leaf variable was used in an inplace operation", "(leaf-write), but only in backward", "IPL201"),
        (
            (
                "Output 0 of UnbindBackward is a view and is being modified inplace. This view is an output of a "
                "function that returns multiple views. Inplace operators on such views is forbidden. You should "
                "replace the inplace operation by an out-of-place one."
            ),
            "refused an in-place write (multi-view-write)",
            "IPL203",
        ),
        (
            (
                "in-place operations can be only used on variables that don't share storage with any other "
                "variables, but detected that there are 3 objects sharing it"
            ),
            "that shares its memory with another one, which later releases accept",
            None,
        ),
    ],
)
def test_messages_of_earlier_releases_are_understood(lint, message, meaning, code):
    out = explained(lint, f"RuntimeError: {message}\n").out
    assert meaning in out
    assert ("Rules about it: " in out) is (code is not None)
    assert code is None or f"Rules about it: {code} " in out


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


BUFFER = """\
import torch

scale = torch.rand(1, 8, requires_grad=True)
noise = torch.zeros(1, 8)
noise.normal_()
loss = (scale * noise).sum()
noise.normal_()
loss.backward()
"""


def test_a_buffer_that_looks_like_a_weight_is_taken_for_none_where_its_write_is_found(lint, folder, traceback_of):
    text = traceback_of(BUFFER)
    assert "It is most likely a parameter: " in explained(lint, text).out
    ran = explained(lint, text, ".")
    assert "It is most likely " not in ran.out
    assert "Rules about it: IPL101, IPL103, " in ran.out
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
