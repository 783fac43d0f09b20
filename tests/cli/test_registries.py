"""Layers of one file that another one looks up in a registry: whoever looks them up runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

DICT = """\
LAYERS = {}


def register(name):
    def decorate(cls):
        LAYERS[name] = cls
        return cls

    return decorate


def build(name, *args):
    return LAYERS[name](*args)
"""
OBJECT = """\
class Registry:
    def __init__(self, name):
        self.name, self.layers = name, {}

    def register(self, name=None):
        def decorate(cls):
            self.layers[name or cls.__name__] = cls
            return cls

        return decorate

    def build(self, name, *args):
        if name not in self.layers:
            raise KeyError(name)
        return self.layers[name](*args)


LAYERS = Registry("layers")
"""
CLASS = """\
class Registry:
    layers = {}

    @classmethod
    def register(cls, name):
        def decorate(layer):
            cls.layers[name] = layer
            return layer

        return decorate

    @classmethod
    def build(cls, name, *args):
        return cls.layers[name](*args)
"""
MAPPING = """\
class Registry(dict):
    def register(self, name):
        def decorate(cls):
            self[name] = cls
            return cls

        return decorate


LAYERS = Registry()
"""
SMALL = """\
_layers = {}


def register(cls):
    _layers[cls.__name__.lower()] = cls
    return cls


def build(name, *args):
    if name.lower() not in _layers:
        raise ValueError(f"unknown layer {name}, there are {list(_layers)}")
    return _layers[name.lower()](*args)
"""
BLOCKS = """\
import torch
from torch import nn

from .registry import {name}


{decorator}
class Gated(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        x += 1
        return self.fc(x)
{after}"""
NET = """\
import torch
from torch import nn

from .registry import {name}


class Net(nn.Module):
    def __init__(self, kind="{key}", dim=4):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.layer = {build}(kind, dim)

    def forward(self, x):
        return self.layer(torch.sigmoid(self.fc(x)))
"""
INIT = "from . import blocks\nfrom .net import Net\n"
# The registry, what fills it and how, what is done after the class, and what the network calls, with the key.
WAYS = {
    "a function fills a dict": (DICT, "register", '@register("gated")', "", "build", "build", "gated"),
    "a statement fills a dict": (DICT, "LAYERS", "", '\n\nLAYERS["gated"] = Gated\n', "build", "build", "gated"),
    "an update": (DICT, "LAYERS", "", '\n\nLAYERS.update({"gated": Gated})\n', "build", "build", "gated"),
    "a method": (OBJECT, "LAYERS", '@LAYERS.register("gated")', "", "LAYERS", "LAYERS.build", "gated"),
    "under its own name": (OBJECT, "LAYERS", "@LAYERS.register()", "", "LAYERS", "LAYERS.build", "Gated"),
    "a class": (CLASS, "Registry", '@Registry.register("gated")', "", "Registry", "Registry.build", "gated"),
    "derived from dict": (MAPPING, "LAYERS", '@LAYERS.register("gated")', "", "LAYERS", "LAYERS.get(kind)", "gated"),
    "in small letters": (SMALL, "register", "@register", "", "build", "build", "Gated"),
}


@pytest.fixture
def package(folder):
    def write(registry, filler, decorator, after, asker, build, key):
        (folder / "pkg").mkdir()
        (folder / "pkg" / "registry.py").write_text(registry)
        (folder / "pkg" / "blocks.py").write_text(BLOCKS.format(name=filler, decorator=decorator, after=after))
        net = NET.format(name=asker, build=build, key=key).replace("get(kind)(kind, ", "get(kind)(")
        (folder / "pkg" / "net.py").write_text(net)
        (folder / "pkg" / "__init__.py").write_text(INIT)
        return folder / "pkg"

    return write


def found(ran):
    return [(Path(row["filename"]).name, row["code"], row["severity"]) for row in json.loads(ran.out)]


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("path", ["pkg", "pkg/net.py", "pkg/blocks.py"])
def test_a_layer_that_another_file_registers_is_run(lint, package, way, path):
    package(*way)
    ran = lint("check", path, "--output-format", "json", "--no-cache")
    assert found(ran) == [("blocks.py", "IPL101", "error")]


@pytest.fixture
def two(package):
    """Write a package with two layers, of which the network uses one that the text says."""
    made = package(*WAYS["a function fills a dict"])
    text = (made / "blocks.py").read_text()
    safe = text[text.index("@register") :].replace("gated", "plain").replace("Gated", "Plain").replace("x += 1", "pass")
    (made / "blocks.py").write_text(f"{text}\n\n{safe}")
    net = (made / "net.py").read_text().replace("build(kind, dim)", 'build("gated", dim)').replace('kind="gated", ', "")
    (made / "net.py").write_text(net)
    return made


def test_another_key_runs_another_layer(lint, two):
    (two / "net.py").write_text((two / "net.py").read_text().replace('"gated"', '"plain"'))
    assert found(lint("check", "pkg", "--output-format", "json", "--no-cache")) == []


def test_an_unknown_key_runs_what_a_small_registry_has(lint, package):
    made = package(*WAYS["a function fills a dict"])
    (made / "net.py").write_text((made / "net.py").read_text().replace('kind="gated", ', "kind, "))
    ran = lint("check", "pkg", "--output-format", "json", "--no-cache")
    assert found(ran) == [("blocks.py", "IPL101", "error")]


def test_what_no_import_runs_is_not_in_a_registry(lint, package):
    made = package(*WAYS["a function fills a dict"])
    (made / "__init__.py").write_text("from .net import Net\n")
    assert found(lint("check", "pkg", "--output-format", "json", "--no-cache")) == []


FOLDER = """\
import importlib
import os

for name in sorted(os.listdir(os.path.dirname(__file__))):
    if name.endswith(".py") and not name.startswith("_"):
        importlib.import_module("pkg." + name[:-3])
"""


def test_a_package_imports_what_is_in_its_folder(lint, package):
    made = package(*WAYS["a function fills a dict"])
    (made / "__init__.py").write_text(FOLDER)
    (made / "blocks.py").rename(made / "others.py")
    assert found(lint("check", "pkg", "--output-format", "json")) == [("others.py", "IPL101", "error")]
    (made / "others.py").rename(made / "others.txt")
    assert found(lint("check", "pkg", "--output-format", "json")) == []
    (made / "others.txt").rename(made / "blocks.py")
    assert found(lint("check", "pkg", "--output-format", "json")) == [("blocks.py", "IPL101", "error")]


def test_the_cache_sees_that_a_package_imports_what_fills_a_registry(lint, package):
    made = package(*WAYS["a function fills a dict"])
    (made / "__init__.py").write_text("from .net import Net\n")
    assert found(lint("check", "pkg", "--output-format", "json")) == []
    (made / "__init__.py").write_text(INIT)
    assert found(lint("check", "pkg", "--output-format", "json")) == [("blocks.py", "IPL101", "error")]


def test_the_cache_sees_that_another_layer_has_the_key(lint, two):
    assert found(lint("check", "pkg", "--output-format", "json")) == [("blocks.py", "IPL101", "error")]
    text = (two / "blocks.py").read_text()
    swapped = text.replace('"gated"', '"other"').replace('"plain"', '"gated"')
    (two / "blocks.py").write_text(swapped)
    assert found(lint("check", "pkg", "--output-format", "json")) == []
    (two / "blocks.py").write_text(text)
    assert found(lint("check", "pkg", "--output-format", "json")) == [("blocks.py", "IPL101", "error")]
