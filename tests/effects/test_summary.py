"""The outline: items that tile the file, and what may write in place."""

from __future__ import annotations

import pytest

from inplace_lint.core.span import Slice
from inplace_lint.effects.summary import outline, outline_of
from inplace_lint.frontend.lower import lower
from inplace_lint.frontend.nesting_guard import nests_too_deeply

SOURCE = """\
import torch.nn as nn
from a.b import c as d

X = [1,
     2]

@decorated(1)
class Block(nn.Module):
    size = 3

    def __init__(self):
        self.act = nn.ReLU(inplace=True)

    @property
    def shape(self): return self.size

def run(x, y):
    def inner(): return X
    return Block()(inner(x))
"""


def test_items_are_the_top_level_statements_with_their_lines() -> None:
    items = outline("p", SOURCE, ["torch"]).items
    assert [(item.kind, item.name, item.slice.first, item.slice.last) for item in items] == [
        ("statement", "", 1, 1),
        ("statement", "", 2, 2),
        ("statement", "", 4, 5),
        ("class", "Block", 7, 15),
        ("function", "run", 17, 19),
    ]


def test_a_class_knows_its_methods_bases_and_decorators() -> None:
    block = outline("p", SOURCE, ["torch"]).items[3]
    assert [(method.qualname, method.slice.first, method.slice.last) for method in block.methods] == [
        ("Block.__init__", 11, 12),
        ("Block.shape", 14, 15),
    ]
    assert block.bases == ("nn.Module",)
    assert block.decorators == ("decorated",)


def test_names_that_are_bound_read_and_called_are_listed() -> None:
    items = outline("p", SOURCE, ["torch"]).items
    assert items[0].binds == ("nn",)
    assert items[1].binds == ("d",)
    assert items[2].binds == ("X",)
    assert {"X", "Block", "x"} <= items[4].reads
    assert "Block" in items[4].calls


@pytest.mark.parametrize(
    "body",
    [
        "x += 1",
        "x[0] = 1",
        "for t in x: t[0] = 1",
        "total = 0\n    for t in x: total += t",
        "out = []\n    out[0] += x",
        "y = {}\n    y = x\n    y[0] = 1",
        "x.add_(1)",
        "relu_(x)",
        "nn.ReLU(inplace=True)",
        "nn.ReLU(inplace=flag)",
        "nn.ReLU(True)",
        "torch.add(x, 1, out=y)",
        "p.data.clamp(0)",
        "loss.backward()",
    ],
)
def test_what_may_write_in_place_is_marked(body: str) -> None:
    assert outline("p", f"def f(x):\n    {body}\n", []).items[0].writes


@pytest.mark.parametrize(
    "body",
    [
        "x = x + 1",
        "self.__init__()",
        "nn.ReLU(inplace=False)",
        "x.requires_grad_()",
        "x[0]",
        "f(a=True)",
        "x['a'] = 1",
        "del x[0]",
        "n = 0\n    n += 1",
        "parts = []\n    parts += x",
        "names, count = '', 0\n    names += x\n    count += len(x)",
        "out = {}\n    out[x] = 1",
        "nn.init.zeros_(x)",
    ],
)
def test_what_cannot_write_is_not_marked(body: str) -> None:
    assert not outline("p", f"def f(x):\n    {body}\n", []).items[0].writes


@pytest.mark.parametrize(
    ("head", "writes"),
    [
        ("from .ops import fill_", False),
        ("from torch.nn.init import fill_", False),
        ("from torch import fill_", True),
        ("fill_ = None", True),
        ("def fill_(x): pass", False),
    ],
)
def test_a_helper_that_is_spelled_like_a_write_is_judged_by_where_it_comes_from(head: str, writes: bool) -> None:
    source = f"{head}\ndef f(x):\n    fill_(x)\n"
    assert outline("p", source, ["torch"]).items[-1].writes is writes


@pytest.mark.parametrize(("head", "writes"), [("REGISTRY = {}", False), ("REGISTRY = load()", True)])
def test_the_items_of_a_registry_are_no_tensors(head: str, writes: bool) -> None:
    source = f"{head}\ndef f(x):\n    REGISTRY[x] = 1\n"
    assert outline("p", source, ["torch"]).items[-1].writes is writes


def test_statements_that_share_a_line_are_one_item() -> None:
    items = outline("p", "a = 1; b = 2\nc = 3\n", []).items
    assert [(item.slice.first, item.slice.last, item.binds) for item in items] == [(1, 1, ("a", "b")), (2, 2, ("c",))]


def test_a_file_mentions_the_packages_whose_names_stand_in_it() -> None:
    assert outline("p", "import torch\n", ["paddle", "torch"]).mentions == ("torch",)


def test_imports_under_conditions_are_listed() -> None:
    source = "try:\n    import torch\nexcept ImportError:\n    from x import y\nif a:\n    import z\n"
    assert [node.module for node in outline("p", source, []).imports] == ["torch", "x", "z"]


@pytest.mark.parametrize("source", ["x = = 1", "x = '\x00'", "def f(:", "x = " + "-" * 100_000 + "1"])
def test_what_ast_refuses_is_a_syntax_error(source: str) -> None:
    with pytest.raises(SyntaxError):
        outline("p", source, [])


def test_a_file_that_only_libcst_reads_has_one_item() -> None:
    source = "import torch\ndef f(x):\n    x += 1\n"
    found = outline_of("p", source, lower(source, Slice("p", 1, 3)), ["torch"])
    assert len(found.items) == 1
    assert found.items[0].writes
    assert found.mentions == ("torch",)


def test_brackets_nested_too_deeply_are_found() -> None:
    assert nests_too_deeply("x = 1\ny = " + "(" * 201 + ")" * 201)
    assert not nests_too_deeply("x = " + "[" * 200 + "]" * 200)


def test_brackets_in_strings_and_comments_do_not_count() -> None:
    source = (
        "x = '" + "(" * 300 + "'\n# " + "(" * 300 + '\ny = """' + "(" * 300 + '\n"""\nz = f"\\"' + "{" * 1 + 'a}"\n'
    )
    assert not nests_too_deeply(source)
