"""Verdicts on findings behind a write that the framework refuses: it is repaired wherever it stands."""

from __future__ import annotations

AT_WRITE = "refused at the write, by importing the file"


def test_parameters_that_a_constructor_writes_hide_nothing(prover):
    source = """
        import torch
        from torch import nn


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Parameter(torch.ones(3))
                self.b = nn.Parameter(torch.ones(3))
                self.a.mul_(2)
                self.b[0] = 1


        net = Net()
        h = net.a.exp()
        h += 1
        h.sum().backward()
        for p in net.parameters():
            p -= p.grad
    """
    prover.write(source)
    proved = prover.run()
    assert [verdict[0::2] for verdict in proved.verdicts] == [
        ("IPL201", "confirmed"),
        ("IPL202", "confirmed"),
        ("IPL101", "confirmed"),
        ("IPL201", "confirmed"),
    ]
    assert proved.reasons == [AT_WRITE, AT_WRITE, "raised in backward, by importing the file", AT_WRITE]


def test_a_leaf_is_one_also_where_an_earlier_write_to_it_is_repaired(prover):
    prover.write("import torch\n\nw = torch.ones(3, requires_grad=True)\nw.fill_(0.1)\nw[0] = 1\n")
    assert prover.run().reasons == [AT_WRITE] * 2


def test_writes_that_no_copy_allows_hide_nothing(prover):
    source = """
        import torch

        n = torch.tensor([1, 2, 3])
        n.div_(2)
        k = torch.tensor([1, 2, 3])
        k /= 2
        m = torch.zeros(3)
        m += torch.ones(2, 3)
    """
    prover.write(source)
    assert prover.run().reasons == [AT_WRITE] * 3


def test_a_reason_names_the_line_of_the_program(prover):
    source = """
        import torch

        x = torch.ones(3, requires_grad=True)
        y = x.exp()
        torch.ones(4) @ torch.ones(7)
        y += 1
        y.sum().backward()
    """
    prover.write(source)
    (reason,) = prover.run().reasons
    assert reason.endswith("(program.py:6)")


def test_a_refused_write_in_another_file_hides_nothing(prover):
    part = """
        from torch import nn


        class Part(nn.Module):
            def forward(self, x):
                a, b = x.chunk(2)
                a += 1
                return x
    """
    net = """
        import torch
        from torch import nn

        from part import Part


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin, self.part = nn.Linear(8, 8), Part()

            def forward(self, x):
                y = torch.exp(self.part(self.lin(x)))
                y += 1
                return y
    """
    prover.write(part, "part.py")
    prover.write(net, "net.py")
    proved = prover.run()
    assert [verdict[0::2] for verdict in proved.verdicts] == [("IPL101", "confirmed"), ("IPL203", "confirmed")]


def test_a_refused_write_hides_no_later_one_of_the_same_call(prover):
    source = """
        import torch
        from torch import nn


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv = nn.Linear(8, 16)

            def forward(self, x):
                q, k = self.qkv(x).chunk(2, -1)
                q *= 0.5
                y = torch.softmax(q * k, -1)
                y[y < 0.01] = 0
                return y
    """
    prover.write(source)
    assert prover.run().reasons == ["refused at the write, by `Net()`", "raised in backward, by `Net()`"]
