"""What a project stores under the keys of mappings and in attributes says whether a gradient can come to it."""

from __future__ import annotations

import pytest

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bend = nn.Linear(width, 1)

    def forward(self, batch, x=None):
        way = {way}
        length = way.norm(dim=1)
        now = torch.zeros_like(length) - length / 2
        out = 0
        for step in range(4):
            now += length / 3
            out = out + self.bend(way) * now**2
        return out
"""
KEYS = 'batch["goal"] - batch["start"]'
ATTRIBUTE = "batch.goal[:, :2]"
DATA_SET = """\
import torch
from torch.utils.data import Dataset


class Tracks(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return {"goal": read(self.rows[index]), "start": read(self.rows[index])}
"""
RECORD = """\
import numpy as np
import torch


def load(path):
    return Record(start=None, goal=torch.from_numpy(np.load(path)))


def moved(batch, by):
    batch.goal = batch.goal + by
    return batch
"""
HELPER = """\
import torch


class Maker:
    def make(self, count):
        return {"goal": self.points(count), "start": grid(count)}

    def points(self, count):
        return torch.rand(count, 2) * 10


def grid(count):
    return torch.linspace(0, 1, count)[:, None]
"""
PREDICTED = """\
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        x = self.fc(x)
        return {"goal": x}
"""
QUIET = "All checks passed!"


@pytest.fixture
def told(folder, lint):
    def told(way: str, **files: str) -> bool:
        for name, text in {"net": NET.format(way=way), **files}.items():
            (folder / f"{name}.py").write_text(text)
        found = lint("--output-format", "concise", "net.py")[1]
        assert found.startswith(QUIET) or "`now` is overwritten" in found
        return not found.startswith(QUIET)

    return told


@pytest.mark.parametrize("way", [KEYS, ATTRIBUTE])
def test_what_nothing_stores_is_told(told, way):
    assert told(way)


@pytest.mark.parametrize("way", [KEYS, ATTRIBUTE])
def test_what_a_data_set_stores_is_data(told, way):
    assert not told(way, data=DATA_SET)


def test_what_is_read_from_a_file_is_data_and_stays_so_where_it_is_moved(told):
    assert not told(ATTRIBUTE, data=RECORD)


def test_what_functions_and_methods_of_the_project_make_without_a_gradient_is_data(told):
    assert not told(KEYS, data=HELPER)


@pytest.mark.parametrize("data", [DATA_SET, HELPER])
def test_what_a_module_stores_as_well_is_told(told, data):
    assert told(KEYS, data=data, head=PREDICTED)


def test_each_of_the_keys_has_to_be_of_data(told):
    assert told(KEYS, data=DATA_SET.replace('"start"', '"begin"'))


def test_what_a_call_passes_under_the_key_is_told(told):
    user = """\
from net import Net


def step(net, encoder, batch):
    net = Net(2)
    net({"goal": encoder(batch), "start": 0}).sum().backward()
"""
    assert told(KEYS, data=DATA_SET, user=user)


def test_what_is_made_of_data_and_of_something_else_is_told(told):
    assert told("batch['goal'][:, :2] - x", data=DATA_SET)
