"""Verdicts on what the framework refuses only later, or only where another finding of the program is repaired."""

from __future__ import annotations

import pytest

LATER = "refused when it was used later, by importing the file"
REPAIRED = "raised after the write, but not when this write alone is repaired, by importing the file"


def test_each_of_two_writes_that_backward_refuses_is_confirmed(prover):
    source = """
        import torch

        x = torch.rand(1, 4, requires_grad=True)
        a, b = (x * 1).expand(4, 4), (x * 2).expand(4, 4)
        a[a > 0.5] = 0.0
        b.masked_fill_(b > 0.5, 0.0)
        (a + b).sum().backward()
    """
    prover.write(source)
    proved = prover.run()
    assert [verdict[0::2] for verdict in proved.verdicts] == [("IPL206", "confirmed")] * 2
    assert proved.reasons == [LATER] * 2


def test_a_history_that_an_earlier_backward_freed_is_that_of_this_write(prover):
    source = """
        import torch
        from torch import nn

        net, bank, steps = nn.Linear(4, 2), torch.zeros(3, 2), torch.zeros(3)
        for step in range(3):
            z = net(torch.rand(1, 4)).exp()
            (z @ bank.t()).logsumexp(1).mean().backward()
            steps[step] = z.sum().detach()
            bank[step] = z
    """
    prover.write(source)
    proved = prover.run()
    assert [verdict[0::2] for verdict in proved.verdicts] == [("IPL104", "confirmed")]
    assert proved.reasons == [REPAIRED]


def test_a_history_that_a_step_trains_through_is_that_of_this_write(prover):
    """Without what is written nothing would be trained: the repaired program drops what was there before."""
    source = """
        import torch
        from torch import nn

        class Spiking(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)
                self.register_buffer("mem", torch.zeros(2, 3))

            def forward(self, x):
                self.mem += self.fc(x)
                return self.mem.sigmoid()

        net = Spiking()
        for _ in range(2):
            torch.stack([net(torch.rand(2, 3)) for _ in range(2)]).sum().backward()
    """
    prover.write(source)
    proved = prover.run()
    assert [verdict[0::2] for verdict in proved.verdicts] == [("IPL104", "confirmed")]
    assert proved.reasons == [REPAIRED]


def test_what_comes_after_a_refused_write_has_its_verdict_too(prover):
    source = """
        import torch

        w = torch.rand(3, requires_grad=True)
        x = torch.rand(3, requires_grad=True)
        w.add_(1)
        y = x.exp()
        x[0] = 1
        y += 1
        y.sum().backward()
        h = (x * 1).sigmoid()
        h.data.mul_(2)
        h.sum().backward()
    """
    prover.write(source)
    assert prover.run().verdicts == [
        ("IPL201", 6, "confirmed"),
        ("IPL202", 8, "confirmed"),
        ("IPL101", 9, "confirmed"),
        ("IPL302", 12, "confirmed"),
    ]


def test_a_run_in_which_another_write_was_repaired_refutes_nothing(prover):
    source = """
        import torch

        w = torch.rand(3, requires_grad=True)
        w.add_(1)
        h = (torch.rand(3, requires_grad=True) * 1).tanh()
        for _ in range(int(h.detach().max() > 2)):
            h += 1
        h.sum().backward()
    """
    prover.write(source)
    verdicts = {code: verdict for code, _line, verdict in prover.run().verdicts}
    assert verdicts["IPL201"] == "confirmed"
    assert "refuted" not in verdicts.values()


def test_a_sum_of_losses_is_longer_than_without_their_history(prover):
    source = """
        import torch
        from torch import nn


        def train(net, steps):
            total = 0
            for _ in range(steps):
                loss = net(torch.rand(2, 4)).sum()
                loss.backward()
                total += loss
            print(total.item() / steps)


        train(nn.Linear(4, 1), 3)
    """
    prover.write(source)
    proved = prover.run()
    assert [verdict[0::2] for verdict in proved.verdicts] == [("IPL308", "confirmed")]
    assert proved.reasons == ["the number of nodes in its history is 6 and should be 0, by importing the file"]


@pytest.mark.paddle
def test_a_history_that_paddle_freed_is_that_of_this_write(prover):
    source = """
        import paddle
        from paddle import nn

        net, mean = nn.Linear(3, 3), paddle.zeros([3])
        for _ in range(2):
            h = net(paddle.rand([4, 3])).exp()
            mean.add_(h.mean(0))
            (h * mean).sum().backward()
    """
    prover.write(source)
    proved = prover.run()
    assert [verdict[0::2] for verdict in proved.verdicts] == [("IPL104", "confirmed")]
    assert proved.reasons == [REPAIRED]


def test_a_run_that_failed_for_another_write_of_the_same_save_refutes_nothing(prover):
    source = """
        import torch
        from torch import nn


        class Net(nn.Module):
            def __init__(self, norm="layer", act="relu"):
                super().__init__()
                self.norm, self.act = norm, act
                self.linear = nn.Linear(4, 4)

            def forward(self, x):
                y = torch.softmax(self.linear(x), -1)
                if self.norm == "batch":
                    y += 1
                if self.act == "gelu":
                    y *= 2
                return y


        locals()["Net"]("batch", "gelu")(torch.randn(3, 4)).sum().backward()
    """
    prover.write(source)
    verdicts = {line: verdict for _code, line, verdict in prover.run().verdicts}
    assert set(verdicts) == {15, 17}
    assert verdicts[15] == "confirmed"
    assert "refuted" not in verdicts.values()
