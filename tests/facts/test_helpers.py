"""What is known of libraries that stand between a program and the framework: bases of modules, wrappers, trainers."""

from __future__ import annotations

import pytest

from inplace_lint.core.finding import Severity
from inplace_lint.driver.analyze_file import Options, check_file

_BLOCK = """
class Block({base}):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x):
        return torch.relu(self.conv(x))


class Net({base}):
    def __init__(self):
        super().__init__()
        self.blocks = {blocks}

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i == 0:
                total = x
            else:
                total += x
        return total
"""

_NETS = """
import torch
from torch import nn
{imports}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(torch.relu(x))

def train(batch):
    {setup}
    fake = g(batch)
    d_loss = d(fake).mean() + d(batch).mean()
    g_loss = -d(fake).mean()
    {first}
    d_opt.step()
    {second}
    g_opt.step()

train(torch.rand(2, 4))
"""

_GAN = """
import torch
from torch import nn
{imports}

class GAN({base}):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.g = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        self.d = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))

    def training_step(self, batch, batch_idx):
        g_opt, d_opt = self.optimizers()
        fake = self.g(batch)
        d_loss = self.d(fake).mean()
        g_loss = -self.d(fake).mean()
        self.manual_backward(d_loss, retain_graph=True)
        d_opt.step()
        self.manual_backward(g_loss)
        g_opt.step()

    def configure_optimizers(self):
        g = torch.optim.Adam(self.g.parameters())
        d = torch.optim.Adam(self.d.parameters())
        return {returned}
"""


def errors(source: str) -> list[tuple[str, str]]:
    """List the errors of a program: the code and the line that each stands on."""
    lines = source.splitlines()
    found = check_file("net.py", source, Options()).findings
    return [
        (finding.code, lines[finding.span.line - 1].strip()) for finding in found if finding.severity is Severity.ERROR
    ]


@pytest.mark.parametrize(
    ("imports", "base", "blocks"),
    [
        ("from mmcv.runner import BaseModule", "BaseModule", "nn.ModuleList([Block(), Block()])"),
        ("from mmcv.runner import BaseModule, ModuleList", "BaseModule", "ModuleList([Block(), Block()])"),
        ("from mmengine.model import BaseModule, ModuleList", "BaseModule", "ModuleList([Block(), Block()])"),
        ("from lightning import LightningModule", "LightningModule", "nn.ModuleList([Block(), Block()])"),
        ("import pytorch_lightning as pl", "pl.LightningModule", "nn.ModuleList([Block(), Block()])"),
        ("from acme.nn import Base", "Base", "nn.ModuleList([Block(), Block()])"),
    ],
)
def test_a_class_with_a_forward_and_a_base_from_elsewhere_is_a_module(imports: str, base: str, blocks: str) -> None:
    source = f"import torch\nfrom torch import nn\n{imports}\n" + _BLOCK.format(base=base, blocks=blocks)
    assert errors(source) == [("IPL101", "total += x")]


@pytest.mark.parametrize("base", ["torch.autograd.Function", "abc.ABC", "object"])
def test_a_class_of_another_kind_with_a_forward_is_no_module(base: str) -> None:
    source = f"import abc\nimport torch\n\nclass Thing({base}):\n    def forward(self, x):\n        return x\n"
    source += "\ndef run(x):\n    thing = Thing()\n    return list(thing.parameters()), thing(x)\n"
    assert errors(source) == []


_MADE = "g, d = Net(), Net(); g_opt = torch.optim.Adam(g.parameters()); d_opt = torch.optim.Adam(d.parameters())"


@pytest.mark.parametrize(
    ("imports", "setup", "first", "second"),
    [
        (
            "from accelerate import Accelerator",
            f"a = Accelerator(); {_MADE}; g, d, g_opt, d_opt = a.prepare(g, d, g_opt, d_opt)",
            "a.backward(d_loss, retain_graph=True)",
            "a.backward(g_loss)",
        ),
        (
            "from lightning.fabric import Fabric",
            f"f = Fabric(); {_MADE}; g, g_opt = f.setup(g, g_opt); d, d_opt = f.setup(d, d_opt)",
            "f.backward(d_loss, retain_graph=True)",
            "f.backward(g_loss)",
        ),
        (
            "import apex",
            f"{_MADE}; d = apex.parallel.DistributedDataParallel(d)",
            "\n    with apex.amp.scale_loss(d_loss, d_opt) as scaled: scaled.backward(retain_graph=True)",
            "g_loss.backward()",
        ),
    ],
)
def test_helpers_take_over_the_steps_of_a_training(imports: str, setup: str, first: str, second: str) -> None:
    source = _NETS.format(imports=imports, setup=setup, first=first, second=second)
    assert errors(source) == [("IPL103", "d_opt.step()")]


@pytest.mark.parametrize(
    "returned",
    [
        "g, d",
        "[g, d], []",
        '{"optimizer": g, "lr_scheduler": None}, {"optimizer": d}',
    ],
)
def test_a_lightning_module_is_given_the_optimizers_that_it_configures(returned: str) -> None:
    source = _GAN.format(imports="import lightning as L", base="L.LightningModule", returned=returned)
    assert errors(source) == [("IPL103", "d_opt.step()")]


_FORECASTER = """
import torch
{imports}
from torch import nn


class Forecaster({base}):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def scaled(self, x):
        spread = torch.sqrt(x.var(0, keepdim=True))
        spread += 1e-6
        return x / spread

    def forward(self, batch):
        return self.fc(self.scaled({given}))

    def training_step(self, batch, index):
        return self(batch).pow(2).mean()
"""


@pytest.mark.parametrize(
    ("imports", "base"),
    [
        ("import pytorch_lightning as pl", "pl.LightningModule"),
        ("import lightning as L", "L.LightningModule"),
        ("from lightning.pytorch import LightningModule", "LightningModule"),
    ],
)
def test_a_module_that_is_trained_as_a_whole_is_called_on_data(imports, base):
    for given in ("batch", 'batch["x"]'):
        assert not check_file("a.py", _FORECASTER.format(imports=imports, base=base, given=given), Options()).findings


def test_what_such_a_module_computes_has_gradients():
    source = _FORECASTER.format(imports="import lightning as L", base="L.LightningModule", given="self.fc(batch)")
    assert [one.severity for one in check_file("a.py", source, Options()).findings] == [Severity.ERROR]


def test_another_module_may_be_called_on_what_a_layer_returned():
    source = _FORECASTER.format(imports="", base="nn.Module", given="batch")
    assert [one.severity for one in check_file("a.py", source, Options()).findings] == [Severity.WARNING]
