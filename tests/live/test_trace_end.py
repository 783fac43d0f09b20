"""What `trace` leaves of the end of a program: its traceback as it is without us, and a last line that is true."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMPILED = """\
    import torch


    def f(x):
        y = torch.sigmoid(x)
        y += 1
        return y


    torch.compile(f, backend="aot_eager")(torch.ones(2, requires_grad=True)).sum().backward()
    """
IN_BACKWARD = """\
    import torch


    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            grad *= 2
            return grad


    Doubled.apply(torch.rand(4, requires_grad=True) * 3).sum().backward()
    """
CHAINED = """\
    import torch

    try:
        torch.ones(3) @ torch.ones(7)
    except RuntimeError as error:
        raise ValueError("sizes") from error
    """


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import torch\n(torch.ones(2, requires_grad=True) + 1).sum().backward()\n", "nothing was found"),
        ("import torch\ntorch.rand(3).exp().add_(1)\n", "no backward ran"),
        ("import sys, torch\nsys.exit('usage: program.py DATA')\n", "no backward ran"),
        ("import paddle\npaddle.rand([3]).exp()\n", "no backward ran"),
        (
            "import paddle\nx = paddle.rand([3])\nx.stop_gradient = False\n(x + 1).sum().backward()\n",
            "nothing was found",
        ),
    ],
)
def test_the_last_line_says_whether_a_backward_ran(tracer, source, said):
    assert tracer.warm(source).err.splitlines()[-1].endswith(f", {said}")


def test_an_error_of_compiled_code_is_not_called_nothing(tracer):
    last = tracer.warm(COMPILED).err.splitlines()[-1]
    assert "did not see the write of the error above" in last
    assert "`inplace-lint explain` reads the traceback" in last


@pytest.mark.parametrize("source", ["import torch\n\ntorch.rand(3) @ torch.ones(7)\n", IN_BACKWARD, CHAINED])
def test_a_traceback_has_no_frames_of_ours(tracer, source):
    tracer.write(source)
    traced = tracer.command("program.py")
    alone = subprocess.run(
        [sys.executable, "program.py"], cwd=tracer.folder, capture_output=True, text=True, check=False
    )
    assert traced.stderr[: len(alone.stderr)] == alone.stderr  # shows where they differ


def test_an_error_of_backward_that_is_caught_does_not_occur_and_is_reported(tracer):
    source = """\
        import torch

        h = torch.rand(3, requires_grad=True).exp()
        h += 1
        try:
            h.sum().backward()
            print("went on")
        except RuntimeError:
            print("caught")
        """
    traced = tracer.run(source)
    assert (traced.out, traced.codes) == ("went on\n", [("IPL101", 4)])


def test_a_step_is_spelled_as_the_program_spells_it(tracer):
    source = """\
        import torch
        from torch import nn

        net = nn.Linear(3, 3)
        opt_d = torch.optim.SGD(net.parameters(), lr=0.1)
        loss = net(net(torch.rand(2, 3))).exp().sum()
        loss.backward(retain_graph=True)
        opt_d.step()
        loss.backward()
        """
    (found,) = tracer.run(source).findings
    assert found["message"].startswith("`opt_d.step()` updates parameters")
