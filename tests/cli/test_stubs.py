"""Functions of compiled modules, of which the project has the stub."""

from __future__ import annotations

import pytest

STUB = """\
from typing import overload

import torch
from torch import Tensor

def fused_add_(x: torch.Tensor, other: Tensor, by: float = 1.0) -> None: ...
def scale_(by: float, x: Tensor) -> Tensor: ...
def scale(x: Tensor, by: float) -> Tensor: ...
def width(x: Tensor) -> int: ...
def reset_(x: Tensor) -> bool: ...
@overload
def both_(x: Tensor) -> Tensor: ...
@overload
def both_(x: Tensor, y: Tensor) -> Tensor: ...
class Pool:
    def take_(self, x: Tensor) -> None: ...
"""
PROGRAM = """\
import torch
{imports}

w = torch.ones(3, requires_grad=True)
h = w.exp()
{call}
h.sum().backward()
"""


@pytest.fixture
def project(folder):
    (folder / "my_ext").mkdir()
    (folder / "my_ext" / "__init__.py").write_text(
        "from ._C import Pool, both_, fused_add_, reset_, scale, scale_, width\n"
    )
    (folder / "my_ext" / "_C.pyi").write_text(STUB)
    return folder


def checked(lint, folder, call, imports="from my_ext import *\nfrom my_ext import _C"):
    (folder / "a.py").write_text(PROGRAM.format(imports=imports, call=call))
    return lint("--output-format=full", ".").out


@pytest.mark.parametrize(
    "imports", ["from my_ext import fused_add_", "from my_ext._C import fused_add_", "from my_ext._C import *"]
)
def test_a_function_whose_name_ends_in_an_underscore_is_assumed_to_write(lint, project, imports):
    out = checked(lint, project, "fused_add_(h, w)", imports)
    assert out.count("warning[IPL101]") == 1
    assert "assuming: `fused_add_` writes to its argument `x`; the operator counts what it writes" in out


@pytest.mark.parametrize(
    "call",
    [
        "_C.fused_add_(h, other=w)",
        "h = _C.scale_(2.0, h)",
        "def go(y):\n    _C.fused_add_(y, w)\n\n\ngo(h)",
    ],
)
def test_it_writes_to_its_first_tensor_and_returns_it(lint, project, call):
    assert checked(lint, project, call).count("warning[IPL101]") == 1


@pytest.mark.parametrize(
    "call",
    [
        "_C.fused_add_(w.sin(), h)",
        "h = _C.scale(h, 2.0)",
        "_C.reset_(h)",
        "_C.both_(h)",
        "_C.Pool().take_(h)",
        "_C.unknown_(h)",
        "n = _C.width(h)\nn += 1",
        "assert _C.fused_add_(w.sin(), h) is None",
    ],
)
def test_nothing_else_is_written(lint, project, call):
    assert "All checks passed" in checked(lint, project, call)


def test_what_a_function_returns_is_no_tensor_where_its_stub_says_so(lint, project):
    call = "z = w.exp()\nn = _C.{}(z)\nm = z * n\nn += 1\nm.sum().backward()"
    assert "warning[IPL101]" in checked(lint, project, call.format("unknown"))
    assert "All checks passed" in checked(lint, project, call.format("width"))


def test_a_changed_stub_counts_at_once_and_code_comes_before_it(lint, project):
    call = "_C.fused_add_(h, w)"
    assert "IPL101" in checked(lint, project, call)
    (project / "my_ext" / "_C.pyi").write_text(STUB.replace("fused_add_", "fused_add"))
    assert "IPL101" not in checked(lint, project, call)
    (project / "my_ext" / "_C.pyi").write_text(STUB)
    assert "IPL101" in checked(lint, project, call)
    (project / "my_ext" / "_C.py").write_text("def fused_add_(x, other):\n    return x + other\n")
    assert "IPL101" not in checked(lint, project, call)


def test_a_stub_is_found_by_every_process(lint, project):
    for number in range(8):
        program = PROGRAM.format(imports="from my_ext import fused_add_", call="fused_add_(h, w)")
        (project / f"b{number}.py").write_text(program + "# long\n" * 1000)
    ran = lint("--output-format=concise", "--jobs=2", ".")
    assert ran.out.count("warning[IPL101]") == 8


def test_a_fact_of_the_project_comes_before_a_stub(lint, project):
    (project / "inplace-lint.toml").write_text('[ops]\n"my_ext._C.fused_add_" = { args = ["x", "other"] }\n')
    assert "All checks passed" in checked(lint, project, "_C.fused_add_(h, w)")
