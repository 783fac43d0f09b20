"""What is known of the common blocks of torchvision, timm and mmcv where a program only imports them."""

from __future__ import annotations

import pytest

from inplace_lint.core.finding import Severity
from inplace_lint.driver.analyze_file import Options, check_file
from inplace_lint.knowledge.facts import Facts, framework
from inplace_lint.knowledge.locate import rules_dir
from inplace_lint.knowledge.op import op_of
from inplace_lint.knowledge.packs import Pack, packs
from tests.facts.test_format import KEYS, RETURN_KEYS

PROGRAM = """
import torch
from torch import nn
{imports}

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, width)
        self.block = {block}

    def forward(self, x):
        {body}
        return x
"""


def errors(imports: str, block: str, body: str) -> list[int]:
    source = PROGRAM.format(imports=imports, block=block, body=body)
    found = check_file("block.py", source, Options()).findings
    return [finding.span.line for finding in found if finding.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("imports", "block"),
    [
        ("from timm.layers import DropPath", "DropPath(0.1)"),
        ("from timm.models.layers import DropPath", "DropPath(0.0)"),
        ("from torchvision.ops import StochasticDepth", "StochasticDepth(0.2, 'row')"),
        ("from mmcv.cnn.bricks import DropPath", "DropPath()"),
    ],
)
def test_the_gradient_goes_through_a_dropped_path(imports: str, block: str) -> None:
    assert errors(imports, block, "x += self.block(self.fc(self.norm(x)))") == [14]


@pytest.mark.parametrize(
    ("imports", "block", "found"),
    [
        ("from mmcv.cnn import ConvModule", "ConvModule(width, width, 3)", [14]),
        ("from mmcv.cnn import ConvModule", "ConvModule(width, width, 3, act_cfg=None)", []),
        ("from torchvision.ops import Conv2dNormActivation", "Conv2dNormActivation(width, width)", [14]),
        ("from torchvision.ops import FrozenBatchNorm2d", "FrozenBatchNorm2d(width)", []),
        ("from timm.layers import ConvNormAct", "ConvNormAct(width, width)", [14]),
        ("from timm.layers import ConvNormAct", "ConvNormAct(width, width, apply_act=False)", []),
    ],
)
def test_a_block_that_ends_in_an_activation_keeps_its_output(imports: str, block: str, found: list[int]) -> None:
    assert errors(imports, block, "x = self.block(x); x += 1") == found


@pytest.mark.parametrize("pack", packs().values(), ids=list(packs()))
def test_every_entry_follows_the_format(pack: Pack) -> None:
    known = Facts(framework(pack.framework), None).rows_in(pack)
    assert known
    for name, rows in known.items():
        assert name.partition(".")[0] in pack.packages, name
        for row in rows:
            assert set(row) <= KEYS | {"act"}
            assert row["source"]
            assert all(set(fact) <= RETURN_KEYS for fact in row.get("returns", ()))
            op_of(row)


def test_each_file_of_facts_is_a_pack_of_the_index() -> None:
    folder = rules_dir() / "ops" / "libs"
    assert {path.stem for path in folder.glob("*.jsonl")} == set(packs())
