"""Methods that no call of a module runs, and constructors: whether the project runs them for a gradient."""

from __future__ import annotations

import pytest

MODULE = """\
import torch
from torch import nn


class {}(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def {}(self, x):
        y = self.fc(x).exp()
        y += 1
        return y
"""
TRACER, DECODER = MODULE.format("Tracer", "scores"), MODULE.format("Decoder", "process")
EVALUATOR = """\
import torch


class Evaluator:
    def evaluate(self, model, x):
        {}:
            return self.collect(model, x)

    def collect(self, model, x):
        return model.scores(x).sum()
"""
SYSTEM = """\
import torch


class System:
    def __init__(self, decoder):
        self.decoder = decoder

    {}
    def process(self, x):
        return self.decoder.process(x)


def identify(system, x):
    return system.process(x)
"""


@pytest.mark.parametrize(("context", "told"), [("with torch.no_grad()", False), ("if True", True)])
def test_a_method_that_only_evaluation_calls_is_not_trained(lint, folder, context, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "tracer.py").write_text(TRACER)
    (folder / "evaluator.py").write_text(EVALUATOR.format(context))
    assert ("tracer.py:12:9: error[IPL101]" in lint("--output-format=concise", "tracer.py").out) is told


@pytest.mark.parametrize(("decorator", "told"), [("@torch.no_grad()", False), ("@staticmethod", True)])
def test_one_of_its_name_that_hands_on_to_it_without_gradients_is_what_others_call(lint, folder, decorator, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "decoder.py").write_text(DECODER)
    (folder / "system.py").write_text(SYSTEM.format(decorator))
    assert ("decoder.py:12:9: error[IPL101]" in lint("--output-format=concise", "decoder.py").out) is told


@pytest.mark.parametrize("file", [TRACER, DECODER])
def test_one_that_nothing_calls_is_an_error(lint, folder, file):
    (folder / "pyproject.toml").write_text("")
    (folder / "net.py").write_text(file)
    assert "net.py:12:9: error[IPL101]" in lint("--output-format=concise", "net.py").out


CONTRACT = """\
import torch
from torch import nn

coefficients = eval("lambda a, b: torch.eye(3) * a + b")


class Contract(nn.Module):
    def __init__(self, paths):
        super().__init__()
        self.index, values = [], []
        for a, b in paths:
            table = coefficients(a, b)
            index = table.nonzero()
            values.append(table[index[:, 0], index[:, 1]])
            index[:, 0] += a
            self.index.append(index)
        self.register_buffer("values", torch.cat(values))
        self.fc = nn.Linear(18, 18)

    def forward(self, x):
        return self.fc(x) * self.values


net = Contract([(1, 2), (2, 1)])
net(torch.rand(2, 18)).sum().backward()
"""


def test_what_a_constructor_computes_of_no_parameter_has_no_gradient_in_a_script(lint, folder):
    (folder / "pyproject.toml").write_text("")
    (folder / "contract.py").write_text(CONTRACT)
    assert lint("contract.py").out == "All checks passed! (1 more with `--assume grad`)\n"


CACHED = """\
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = nn.Linear(2, 2)
        self.register_buffer("keys", torch.zeros(4, 2))

    def forward(self, x, cache=False):
        k = self.k(x).exp()
        if cache:
            self.keys[:1] = k
            k += 1
        return k
"""
GENERATE = """\
import torch


def generate(net, x):
    {}:
        return net(x, cache=True)
"""


@pytest.mark.parametrize(("context", "told"), [("with torch.inference_mode()", False), ("if True", True)])
def test_an_option_that_is_only_passed_without_gradients_is_no_fault(lint, folder, context, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "attention.py").write_text(CACHED)
    (folder / "generate.py").write_text(GENERATE.format(context))
    found = lint("--output-format=concise", "attention.py").out
    assert ("error[IPL101] [*] with `cache=True`" in found) is told
