"""Inputs of a network that its layers are given unchanged, and whether anybody in sight makes one with a gradient."""

from __future__ import annotations

import pytest

LAYER = """\
import torch
from torch import nn


class Chebyshev(nn.Module):
    def __init__(self, width, order):
        super().__init__()
        self.order = order
        self.weight = nn.Parameter(torch.rand(width, width, order))

    def forward(self, x, laplacian):
        powers = torch.empty(x.shape[0], x.shape[1], self.order)
        powers[:, :, 0] = torch.mm(laplacian, x)
        for k in range(1, self.order):
            powers[:, :, k] = torch.mm(laplacian, powers[:, :, k - 1])
        return torch.einsum("nik,iok->no", powers, self.weight)
"""
NET = """\
from torch import nn

from layer import Chebyshev


class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.layers = nn.ModuleList([Chebyshev(width, 3)])
        for _ in range(depth - 1):
            self.layers.append(Chebyshev(width, 3))

    def forward(self, x, laplacian):
{body}
        return x
"""
LOOP = """\
        for layer in self.layers:
            x = layer(x, laplacian)
"""
STACKED = """\
        x = self.embed(x)
        for index, layer in enumerate(self.layers):
            x = x + self.layers[index](x, laplacian=laplacian)
"""
LEARNED = """\
        laplacian = self.embed(laplacian)
        for layer in self.layers:
            x = layer(x, laplacian)
"""
FIRST = """\
        x = self.embed(x)
        for layer in self.layers:
            x = layer(laplacian, x)
"""
ITSELF = """\
        x = self.embed(x) @ laplacian
        for layer in self.layers:
            x = layer(x, laplacian)
"""
USER = """\
import torch

from net import Net


def step(graph, x, edges):
    net = Net(4, 2)
    net(x, {given}).sum().backward()
"""
QUIET = "All checks passed!"


@pytest.fixture
def tree(folder):
    (folder / "pyproject.toml").write_text("")
    (folder / "layer.py").write_text(LAYER)
    return folder


def told(lint) -> str:
    return lint("--output-format", "concise", "layer.py")[1]


def test_the_second_input_of_a_layer_that_nothing_calls_is_told(lint, tree):
    assert "powers" in told(lint)


@pytest.mark.parametrize("body", [LOOP, STACKED])
def test_what_a_network_hands_on_to_its_layers_beside_an_activation_is_counted_and_not_told(lint, tree, body):
    (tree / "net.py").write_text(NET.format(body=body))
    assert told(lint).startswith(QUIET)


@pytest.mark.parametrize("body", [LEARNED, FIRST, ITSELF])
def test_what_a_network_makes_or_gives_first_or_uses_itself_is_told(lint, tree, body):
    (tree / "net.py").write_text(NET.format(body=body))
    assert "powers" in told(lint)


@pytest.mark.parametrize(("given", "is_told"), [("torch.eye(4)", False), ("graph(edges)", True)])
def test_what_the_callers_of_the_network_pass_decides(lint, tree, given, is_told):
    (tree / "net.py").write_text(NET.format(body=LOOP))
    (tree / "user.py").write_text(USER.format(given=given))
    assert ("powers" in told(lint)) == is_told


WHOLE = """\
import pytorch_lightning as pl
from torch import nn

from helper import encode


class Whole(pl.LightningModule):
    def __init__(self, noise=0.1):
        super().__init__()
        self.noise = noise
        self.head = nn.Linear(3, 3)

    def forward(self, x, coords):
        return self.head(encode(x, {coords}))
"""
HELPER = """\
import torch


def encode(x, coords):
    vectors = coords[1:] - coords[:-1]
    norms = torch.norm(vectors, dim=-1, keepdim=True)
    vectors /= norms
    return x + vectors
"""


@pytest.mark.parametrize(("coords", "is_told"), [("coords + self.noise", False), ("self.head(coords)", True)])
def test_what_a_module_that_is_trained_as_a_whole_hands_on_is_data(lint, tree, coords, is_told):
    (tree / "helper.py").write_text(HELPER)
    (tree / "whole.py").write_text(WHOLE.format(coords=coords))
    assert ("vectors" in lint("--output-format", "concise", "helper.py")[1]) == is_told
