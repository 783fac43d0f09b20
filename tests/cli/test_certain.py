"""What is run alone is trained for certain where a network is seen to return it, or to pass what its layers compute."""

from __future__ import annotations

import textwrap

import pytest

ENCODER = """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)

    def features(self, x):
        y = torch.relu(self.linear(x))
        y += 1
        return y
"""
NET = """\
import torch
from torch import nn

from build import build


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = build(cfg.encoder)
        self.head = nn.Linear(4, 2)
        self.kept = {{}}

    def forward(self, x):
{body}
"""
CERTAIN = {
    "it is a part of what is returned": "        return self.head(self.encoder.features(x))",
    "it has a name": "        y = self.encoder.features(x)\n        return self.head(y)",
}
UNCERTAIN = {
    "its history is cut": "        return self.head(self.encoder.features(x).detach())",
    "nothing uses what it returns": "        self.encoder.features(x)\n        return self.head(x)",
    "its history is cut later": "        y = self.encoder.features(x)\n        return self.head(y.data)",
}
NOT_RECORDED = {
    "no gradients are recorded": (
        "        with torch.no_grad():\n            y = self.encoder.features(x)\n        return self.head(y)"
    )
}


@pytest.fixture
def tree(folder):
    (folder / "pyproject.toml").write_text("")
    (folder / "encoder.py").write_text(ENCODER)
    (folder / "build.py").write_text("KNOWN = {}\n\n\ndef build(cfg):\n    return KNOWN[cfg.name](**cfg)\n")
    return folder


@pytest.mark.parametrize("body", CERTAIN.values(), ids=CERTAIN)
def test_a_network_that_returns_what_a_method_computes_makes_it_certain(lint, tree, body):
    (tree / "net.py").write_text(NET.format(body=body))
    for _ in range(2):  # the second run takes its results from the cache
        code, out, _ = lint("encoder.py", "--output-format", "concise")
        assert (code, out.splitlines()[0].split(" [")[0]) == (1, "encoder.py:15:9: error[IPL101]")


@pytest.mark.parametrize("body", UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_network_that_cuts_a_history_leaves_an_assumption(lint, tree, body):
    (tree / "net.py").write_text(NET.format(body=body))
    code, out, _ = lint("encoder.py")
    assert code == 1
    assert out.startswith("warning[IPL101]")
    assert "a gradient is computed for what `features` returns" in out


@pytest.mark.parametrize("body", NOT_RECORDED.values(), ids=NOT_RECORDED)
def test_a_network_that_records_nothing_there_trains_nothing(lint, tree, body):
    (tree / "net.py").write_text(NET.format(body=body))
    assert lint("encoder.py") == (0, "All checks passed! (1 more with `--assume grad`)\n", "")


LOSS = """\
import torch
from torch import nn


class Overlap(nn.Module):
    def forward(self, pred, target):
        area = pred.exp()
        area += target
        return area.mean()
"""
HEAD = """\
import torch
from torch import nn

from overlap import Overlap


class Head(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.convs = nn.ModuleList()
        for size in cfg.sizes:
            self.convs.append(nn.Linear(size, size))
        self.overlap = Overlap()
        self.last = nn.Linear(4, 4)

    def forward(self, xs, targets):
        outs = []
        for at, x in enumerate(xs):
            outs.append(self.convs[at](x))
        return self.get_losses(outs[0], targets, cfg=None)

    def get_losses(self, outs, targets, cfg):
        if cfg.missing(outs):
            return None
{body}
"""
OF_LAYERS = {
    "of a layer": "        return self.overlap(self.last(targets), targets)",
    "through a view": "        return self.overlap(outs.view(-1, 4), targets)",
    "in a list": "        kept = []\n        kept.append(self.overlap(outs, targets))\n        return kept",
    "through a name": "        pred = outs[:, :4]\n        return self.overlap(pred, targets)",
}
OF_NO_LAYER = {
    "its history is cut": "        return self.overlap(outs.detach(), targets)",
    "its history is cut first": "        outs = outs.detach()\n        return self.overlap(outs, targets)",
    "it is only logged": '        self.log("overlap", self.overlap(outs, targets))\n        return outs',
    "its name is only logged": (
        '        overlap = self.overlap(outs, targets)\n        self.log("overlap", overlap)\n        return outs'
    ),
    "it is called without gradients": (
        "        with torch.no_grad():\n            found = self.overlap(outs, targets)\n        return found"
    ),
    "it is computed without gradients": (
        "        with torch.no_grad():\n            pred = self.last(outs)\n        return self.overlap(pred, targets)"
    ),
    "it is an index": "        return self.overlap(outs.argmax(-1), targets)",
    "a function may return anything": "        return self.overlap(cfg.decode(targets), targets)",
}


@pytest.mark.parametrize("body", OF_LAYERS.values(), ids=OF_LAYERS)
def test_a_call_that_passes_what_a_layer_computes_makes_it_certain(lint, tree, body):
    (tree / "overlap.py").write_text(LOSS)
    (tree / "head.py").write_text(HEAD.format(body=body))
    assert lint("overlap.py", "--output-format", "concise").out.startswith("overlap.py:8:9: error[IPL101]")


@pytest.mark.parametrize("body", OF_NO_LAYER.values(), ids=OF_NO_LAYER)
def test_a_call_that_passes_anything_else_leaves_an_assumption(lint, tree, body):
    (tree / "overlap.py").write_text(LOSS)
    (tree / "head.py").write_text(HEAD.format(body=body))
    assert "error[" not in lint("overlap.py", "--output-format", "concise").out


AREA = """\
def area(pred, target):
    found = pred.exp()
    found += target
    return found.mean()
"""
RECURSIVE = """\
import torch

from area import area


def walk(pred, target, depth=0):
    return walk(pred, target, depth + 1) if depth < 3 else area(pred, target)
"""


def test_what_is_only_handed_on_in_a_circle_says_nothing(lint, tree):
    (tree / "area.py").write_text(f"import torch\n\n\n{AREA}")
    (tree / "walk.py").write_text(RECURSIVE)
    assert lint("area.py", "--output-format", "concise").out.startswith("area.py:6:5: warning[IPL101]")


BLOCKS = """\
import torch
from torch import nn

from act import swish
from other import Outer


class Norm(nn.Module):
    def forward(self, x):
        return x / x.norm()


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, size), nn.ReLU())

    def forward(self, x):
        return x + self.body(x)


class Frozen(Block):
    def forward(self, x):
        return super().forward(x).detach()


class Unrecorded(Block):
    @torch.no_grad()
    def forward(self, x):
        return self.body(x)


class Several(Block):
    def forward(self, x):
        return self.body(x), x > 0


class Derived(Block):
    pass


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.ModuleList([{made} for size in cfg.sizes])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x, cfg=None)

    def head(self, x, cfg):
        if cfg.missing(x):
            return None
        return swish(x)
"""
OUTER = """\
from torch import nn


class Outer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.proj = nn.Linear(size, size)

    def forward(self, x, scale=1.0):
        x = self.proj(x)
        return x * scale
"""
ACT = """\
import torch


def swish(x):
    y = torch.exp(x)
    y += 1
    return y
"""
COMPUTING = {
    "a class of the file": "Block(size)",
    "one that derives from it": "Derived(size)",
    "an imported class": "Outer(size)",
    "in a container": "nn.Sequential(Norm(), Block(size))",
}
OTHERS = {
    "it hands on": "Norm()",
    "it cuts the history": "Frozen(size)",
    "it records no gradients": "Unrecorded(size)",
    "it returns several": "Several(size)",
    "one of two cuts the history": "nn.Sequential(Block(size), Frozen(size))",
    "it is not known": "cfg.build(size)",
}


@pytest.mark.parametrize("made", COMPUTING.values(), ids=COMPUTING)
def test_modules_of_the_project_compute_as_layers_do(lint, tree, made):
    (tree / "act.py").write_text(ACT)
    (tree / "other.py").write_text(OUTER)
    (tree / "blocks.py").write_text(BLOCKS.format(made=made))
    assert lint("act.py", "--output-format", "concise").out.startswith("act.py:6:5: error[IPL101]")


def test_modules_that_may_be_frozen_compute_nothing(lint, tree):
    (tree / "act.py").write_text(ACT)
    (tree / "other.py").write_text(OUTER)
    frozen = "\n\ndef freeze(net):\n    for param in net.parameters():\n        param.requires_grad = False\n"
    (tree / "blocks.py").write_text(BLOCKS.format(made="Block(size)") + frozen)
    assert "error[" not in lint("act.py", "--output-format", "concise").out


@pytest.mark.parametrize("made", OTHERS.values(), ids=OTHERS)
def test_modules_of_the_project_that_may_return_anything_compute_nothing(lint, tree, made):
    (tree / "act.py").write_text(ACT)
    (tree / "other.py").write_text(OUTER)
    (tree / "blocks.py").write_text(BLOCKS.format(made=made))
    assert "error[" not in lint("act.py", "--output-format", "concise").out


NORM = """\
import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))

    def forward(self, x):
        mean = (x**2).mean()
        x *= self.scale
        return x / mean
"""
MAKER = """\
from torch import nn

from norm import Norm


def make(kind, size):
    if kind == "norm":
        return Norm(size)
    raise ValueError(kind)


class Block(nn.Module):
    def __init__(self, kind, size):
        super().__init__()
        self.norm = make(kind, size)
        self.proj = nn.Linear(size, size)

    def forward(self, x):
        return self.head(self.proj(x), cfg=None)

    def head(self, x, cfg):
        if cfg.missing(x):
            return None
        return self.norm(x{cut})
"""


@pytest.mark.parametrize(("cut", "is_told"), [("", True), (".detach()", False)])
def test_what_a_function_of_the_file_makes_is_called_as_what_the_class_makes(lint, tree, cut, is_told):
    (tree / "norm.py").write_text(NORM)
    (tree / "net.py").write_text(MAKER.format(cut=cut))
    out = lint("norm.py", "--output-format", "concise").out
    assert ("norm.py:12:9: error[IPL101]" in out) is is_told
    assert ("IPL101" in out) is is_told


@pytest.mark.parametrize("count", ["x.size(0)", "x.size(0) * x.dim()", "len(x)", "x.numel()"])
def test_a_mean_over_sizes_is_one_number_and_so_a_loss(lint, tree, count):
    (tree / "loss.py").write_text(
        f"""\
import torch
from torch import nn


class Root(nn.Module):
    def forward(self, x, target):
        distance = torch.sqrt(x - target)
        distance -= 1
        return distance.sum() / ({count})
"""
    )
    (tree / "net.py").write_text("from loss import Root\n")
    assert "loss.py:8:9: error[IPL101]" in lint("loss.py", "--output-format", "concise").out


RESIDUAL = """\
from torch import nn


class Residual(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.act = nn.ELU()
        self.proj = nn.Linear(size, size)

    def forward(self, x):
        h = self.proj(self.act(x))
        x += h
        return x
"""
CHAIN = """\
from torch import nn

from residual import Residual


class Net(nn.Module):
    def __init__(self, size, depth, parts, start, kind):
        super().__init__()
{made}
        self.run = parts(self.body)

    def forward(self, x):
        return self.run.start(x)
"""
MADE = {
    "layers = [nn.Linear(size, size)]\nlayers.append(Residual(size))\nself.body = nn.Sequential(*layers)": "error",
    "layers: list = [nn.Linear(size, size), nn.GELU()]\nfor _ in range(depth):\n    layers += [Residual(size)]\n"
    "self.body = nn.Sequential(*layers)": "error",
    "self.body = nn.Sequential(*[nn.Sequential(nn.Linear(size, size), Residual(size)) for _ in range(depth)])": "error",
    "layers = []\nfor _ in range(depth):\n    layers += [Residual(size), nn.Linear(size, size)]\n"
    "self.body = nn.Sequential(*layers)": "error",
    "self.body = nn.Sequential(Residual(size), nn.Linear(size, size))": "warning",
    "self.body = nn.Sequential(nn.Linear(size, size), start, Residual(size))": "warning",
    "layers = [nn.Linear(size, size), Residual(size)]\nself.body = nn.ModuleList(layers)": "warning",
    "layers = []\nif kind:\n    layers.append(nn.Linear(size, size))\nelse:\n    layers.append(Residual(size))\n"
    "self.body = nn.Sequential(*layers)": "warning",
    "layers = [nn.Linear(size, size)]\nlayers = [Residual(size)]\nself.body = nn.Sequential(*layers)": "warning",
}


@pytest.mark.parametrize(("made", "told"), MADE.items())
def test_what_a_container_calls_after_a_layer_is_given_what_that_computes(lint, tree, made, told):
    (tree / "residual.py").write_text(RESIDUAL)
    (tree / "net.py").write_text(CHAIN.format(made=textwrap.indent(made, " " * 8)))
    out = lint("residual.py", "--output-format", "concise").out
    assert f"residual.py:12:9: {told}[IPL101]" in out


def test_what_a_network_leaves_open_for_want_of_steps_is_asked_of_its_parts(lint, tree):
    layers = "layers = [nn.Linear(size, size)]\nfor _ in range(40):\n    layers += [Residual(size)]\n"
    (tree / "residual.py").write_text(RESIDUAL)
    made = layers + "self.body = nn.Sequential(*layers)"
    net = CHAIN.format(made=textwrap.indent(made, " " * 8)).replace("self.run.start", "self.body")
    (tree / "net.py").write_text(net)
    assert "residual.py:12:9: error[IPL101]" in lint("residual.py", "--output-format", "concise").out
