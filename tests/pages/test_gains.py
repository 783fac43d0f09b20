"""The tables of inplace-opportunity: every cell is a module that runs in both forms, and the advice says the same."""

from __future__ import annotations

import re
from functools import cache

import pytest

from inplace_lint.driver.analyze_file import Options, check_file
from tests.pages.examples import ROOT

PAGE = (ROOT / "rules" / "inplace-opportunity.md").read_text(encoding="utf-8")
ARGUMENTS = {
    "Conv2d": "4, 4, 1",
    "Linear": "4, 4",
    "BatchNorm2d": "4",
    "LayerNorm": "4",
    "MaxPool2d": "2",
    "AvgPool2d": "2",
    "Softmax": "1",
    "Threshold": "0.1, 0.0",
}
HEAD = "import torch\nfrom torch import nn\n"
MODULE = """

class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 4, 1)
        self.before = {before}
        self.act = {act}
        self.behind = {behind}

    def forward(self, x):
        return self.behind(self.act(self.before(self.first(x))))
"""
KEPT = """
import torch

torch.manual_seed(0)
results = {}
for name in sorted(key for key, value in globals().items() if key.startswith("Cell")):
    net, kept, held = globals()[name](), {}, []
    x = torch.rand(2, 4, 4, 4, requires_grad=True)

    def pack(tensor):
        held.append(tensor)
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        net(x)
    try:
        net(x).sum().backward()
        results[name] = sum(kept.values())
    except RuntimeError:
        results[name] = -1
"""


def made(module: str, *, inplace: bool = False) -> str:
    words = [ARGUMENTS.get(module, "")] * (module in ARGUMENTS) + ["inplace=True"] * inplace
    return f"nn.{module}({', '.join(words)})"


@cache
def cells() -> tuple[tuple[str, str, str, str], ...]:
    """Give the module before, the one in place, the one behind, and what the page says, for each cell."""
    found = []
    for side, head, *rows in re.findall(r"\| (after|before) \|(.*)\n\|[-|]+\n((?:\| `.*\n)+)", PAGE):
        columns = re.findall(r"`(\w+)`", head)
        for row in rows[0].splitlines():
            names, *says = (part.strip() for part in row.strip("|").split("|"))
            for name in re.findall(r"`(\w+)`", names):
                for column, said in zip(columns, says, strict=True):
                    found.append((column, name, "Conv2d", said) if side == "after" else ("Conv2d", name, column, said))
    return tuple(found)


def program(*, inplace: bool) -> str:
    modules = (
        MODULE.format(name=f"Cell{at}", before=made(before), act=made(act, inplace=inplace), behind=made(behind))
        for at, (before, act, behind, _) in enumerate(cells())
    )
    return HEAD + "".join(modules)


@pytest.fixture(scope="module")
def bytes_kept() -> tuple[dict[str, int], dict[str, int]]:
    pytest.importorskip("torch")
    both = []
    for inplace in (False, True):
        names: dict = {}
        exec(program(inplace=inplace) + KEPT, names)
        both.append(names["results"])
    return both[0], both[1]


def test_the_page_has_the_cells():
    assert len(cells()) > 200


def test_every_cell_does_what_the_page_says(bytes_kept):
    plain, inplace = bytes_kept
    for at, (*modules, said) in enumerate(cells()):
        name = f"Cell{at}"
        now = "raises" if inplace[name] < 0 else "gains" if inplace[name] < plain[name] else "nothing"
        assert plain[name] > 0
        assert inplace[name] <= plain[name]
        assert now == said, modules


def test_the_advice_is_the_cells_that_gain():
    source = program(inplace=False)
    found = check_file("cells.py", source, Options(opinions=True, advice=True)).findings
    lines = {one.span.line for one in found if one.code == "IPL601" and not one.assumptions}
    text = source.splitlines()
    places = [number for number, line in enumerate(text, 1) if "self.act = " in line]
    assert lines == {place for place, (*_, said) in zip(places, cells(), strict=True) if said == "gains"}
