"""Modules without parameters that no call is seen of: what stands beside them shows whether they are layers."""

from __future__ import annotations

import pytest

SCALE = """\
import torch
from torch import nn
{imports}

{decorator}
class Scale(nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        {before}
        return y.mul_(0.5)
"""
REGISTRY = """\
class Registry:
    def __init__(self):
        self.known = {}

    def register(self, cls):
        self.known[cls.__name__] = cls
        return cls


LAYERS = Registry()
OTHERS = Registry()
"""
OTHER = """\
from torch import nn

from .registry import LAYERS, OTHERS
from .scale import Scale


@LAYERS.register
class Learned(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


{beside}
"""
TABLE = 'KNOWN = {"scale": Scale, "other": nn.ReLU}\n\n\ndef known(name):\n    return KNOWN[name]\n'
LOSSES = TABLE.replace("nn.ReLU", "nn.L1Loss")
CHAIN = """\
def known(name):
    if name == "scale":
        return Scale()
    return nn.ReLU()
"""
APART = """\
def known(data):
    scale = Scale()
    return nn.Linear(4, 4), scale(data).shape
"""


@pytest.mark.parametrize(
    ("beside", "decorator", "before", "told"),
    [
        (TABLE, "", "", True),
        (LOSSES, "", "", True),
        (CHAIN, "", "", True),
        ("", "@LAYERS.register", "", True),
        ("", "", "if not self.training:\n            return x", True),
        ("", "", "", False),
        ("", "@OTHERS.register", "", False),
        (APART, "", "", False),
        (TABLE.replace("nn.ReLU", "print"), "", "", False),
        (TABLE.replace("nn.ReLU", "nn.Flatten"), "", "", False),
    ],
)
def test_a_module_without_parameters_is_a_layer_beside_layers(lint, folder, beside, decorator, before, told):
    package = folder / "parts"
    package.mkdir()
    (folder / "pyproject.toml").write_text("")
    (package / "__init__.py").write_text("from .other import Learned\n")
    (package / "registry.py").write_text(REGISTRY)
    imports = "\nfrom .registry import LAYERS, OTHERS\n" if decorator else ""
    (package / "scale.py").write_text(SCALE.format(imports=imports, decorator=decorator, before=before))
    (package / "other.py").write_text(OTHER.format(beside=beside))
    found = lint("--output-format=concise", "parts/scale.py")
    assert ("warning[IPL101]" in found.out) is told, found.out
