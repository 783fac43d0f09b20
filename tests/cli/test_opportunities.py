"""`inplace-lint opportunities`: what it selects, in which order, and that all files have to agree."""

from __future__ import annotations

import json

import pytest

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.act = nn.LeakyReLU()
        self.last = nn.Linear(4, 4)

    def forward(self, x):
        return self.last(self.act(self.first(x)))
"""
CALLER = """\
import torch

from net import Net


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        h = self.net.first(x)
        return self.net.last(self.net.act(h)){more}
"""
ORDER = """\
import torch
from torch import nn
import torch.nn.functional as F

first = nn.Linear(4, {width})
last = nn.Linear({width}, 2)


def run():
    x = first(torch.rand(2, 4))
    x = F.elu(x)
    return last(x)
"""


def found(lint, *words):
    done = lint("opportunities", *words, "--output-format", "json")
    return [(row["filename"].rpartition("/")[2], row["location"]["row"], row["code"]) for row in json.loads(done.out)]


def test_only_advice_is_shown(lint, folder):
    (folder / "net.py").write_text(NET + "\n\nw = torch.ones(2, requires_grad=True)\nw += 1\n")
    assert found(lint, "net.py") == [("net.py", 9, "IPL601")]


@pytest.mark.parametrize(("more", "count"), [("", 1), (" + h", 0)])
def test_a_caller_in_another_file_can_rule_a_place_out(lint, folder, more, count):
    (folder / "net.py").write_text(NET)
    (folder / "outer.py").write_text(CALLER.format(more=more))
    assert len(found(lint, "net.py")) == count


def test_a_file_that_cannot_be_read_is_told(lint, folder):
    (folder / "net.py").write_text("import torch\nx = (\n")
    assert found(lint, "net.py") == [("net.py", 2, "IPL902")]


def test_check_says_nothing_of_it(lint, folder):
    (folder / "net.py").write_text(NET)
    assert "IPL601" not in lint("check", "net.py").out


def test_the_largest_tensor_comes_first(lint, folder):
    (folder / "a.py").write_text(ORDER.format(width=4))
    (folder / "b.py").write_text(ORDER.format(width=64))
    assert [path for path, *_ in found(lint, ".")] == ["b.py", "a.py"]


@pytest.mark.parametrize(("selector", "status"), [("ALL", 0), ("IPL", 0), ("IPL6", 1), ("inplace-opportunity", 1)])
def test_advice_is_selected_by_its_own_name_only(lint, folder, selector, status):
    (folder / "net.py").write_text(NET)
    assert lint("--select", selector, "--fail-on", "info", "net.py").status == status


LAYERS = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.{layer}
        self.norm = nn.{norm}
        self.act = nn.LeakyReLU()
        self.last = nn.{layer}

    def forward(self, x):
        return self.last(self.act(self.norm(self.first(x))))
"""


@pytest.mark.parametrize(
    ("layer", "norm", "size"),
    [
        ("Conv2d(8, 64, 3, bias=False)", "BatchNorm2d(64)", "N x 64 x H x W"),
        ("ConvTranspose1d(8, 48, 3)", "Identity()", "N x 48 x L"),
        ("Linear(8, 32)", "LayerNorm(32)", "32 x ..."),
        ("Conv2d(8, width, 3)", "BatchNorm2d(width)", ""),
    ],
)
def test_the_channels_are_named_where_the_axes_are_unknown(lint, folder, layer, norm, size):
    (folder / "net.py").write_text(LAYERS.format(layer=layer, norm=norm))
    label = f"it has {size} floats" if size else "set `inplace=True`"
    assert f"^^^ {label}" in lint("opportunities", "net.py").out


def test_the_largest_of_the_tensors_of_a_call_is_named(lint, folder):
    source = LAYERS.format(layer="Conv1d(8, 16, 1)", norm="Identity()") + "        return self.act(x)\n"
    source = source.replace("self.last = nn.Conv1d(8, 16, 1)", "self.last = nn.Conv1d(16, 4, 1)")
    again = source.replace("return self.last(", "x = self.last(").replace(
        "return self.act(x)", "return self.first(self.act(x))"
    )
    (folder / "net.py").write_text(again)
    assert "it has N x 16 x L floats" in lint("opportunities", "net.py").out


def test_an_operator_is_named_as_it_is_written(lint, folder):
    source = ORDER.format(width=4).replace("x = first(torch.rand(2, 4))", "x = first(torch.rand(2, 4)) * 2")
    (folder / "a.py").write_text(source)
    assert (
        "the result of `*` is no longer kept for backward"
        in lint("opportunities", "a.py", "--output-format", "concise").out
    )


@pytest.mark.parametrize(
    ("words", "count"), [(["--fix"], 0), (["--fix", "--unsafe-fixes"], 1), (["--diff", "--unsafe-fixes"], 0)]
)
def test_a_fix_without_its_proof_is_unsafe(lint, folder, words, count):
    (folder / "net.py").write_text(NET)
    done = lint("opportunities", "net.py", *words)
    assert (folder / "net.py").read_text().count("inplace=True") == count
    assert ("+        self.act = nn.LeakyReLU(inplace=True)" in done.out) == ("--diff" in words)
    assert ("Would fix 1 finding." in done.err) == ("--diff" in words)


def test_a_run_without_proposals_says_so(lint, folder):
    (folder / "net.py").write_text(NET.replace("LeakyReLU", "ReLU"))
    assert lint("opportunities", ".") == (0, "No opportunities found.\n", "")
