"""The help of a write says what its text leaves room for."""

from __future__ import annotations

import pytest

from inplace_lint.core.finding import Role
from inplace_lint.driver.analyze_file import Options, check_file

_HEAD = "import torch\nw = torch.rand(3, requires_grad=True)\nys = [w.exp(), w.exp()]\n"
_TAIL = "sum(y.sum() for y in ys).backward()\n"
_NEW = "create a new tensor instead of writing in place"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("y = ys[0]\ny.add_(1)\n", "use `y = y.add(1)`"),
        ("y = ys[0]\ny = y.add_(1)\n", "use `y = y.add(1)`"),
        ("y = ys[0]\nz = y.add_(1)\n", "use `y.add(1)`"),
        ("ys = [y.add_(1) for y in ys]\n", "use `y.add(1)`"),
        ("ys = list(map(lambda y: y.add_(1), ys))\n", "use `y.add(1)`"),
        ("for y in ys:\n    y.add_(1)\n", _NEW),
        ("for y in ys:\n    y += 1\n", _NEW),
        ("total = 0\nfor y in ys:\n    y += 1\n    total = total + y.sum()\n", "use `y = y + 1`"),
        ("def add(y):\n    y += 1\nadd(ys[0])\n", _NEW),
        ("def add(y):\n    y += 1\n    return y\nys[0] = add(ys[0])\n", "use `y = y + 1`"),
        ("def add(y):\n    return y.add_(1)\nys[0] = add(ys[0])\n", "use `y.add(1)`"),
        ("def add(y):\n    while y.sum() < 9:\n        y += 1\nadd(ys[0])\n", "use `y = y + 1`"),
        ("ys[0] += 1\n", "use `ys[0] = ys[0] + 1`"),
        ('d = {"y": ys[0]}\nd["y"] *= 2\n', 'use `d["y"] = d["y"] * 2`'),
        ("y = ys[0]\ny[0] += 1\n", "write into a copy of `y`"),
        ("y = ys[0]\nFLAG = True\nFLAG and y.add_(1)\n", "use `y = y.add(1)`"),
        ("y = ys[0]\nFLAG = True\ny.add_(1) if FLAG else None\n", _NEW),
        ("y = ys[0]\ny.add_(1), 2\n", _NEW),
        ("[y.add_(1) for y in ys]\n", _NEW),
        ("y = ys[0]\nassert y.add_(1).min() > 0\nprint(y)\n", _NEW),
        ("y = ys[0]\nz = torch.tanh(y.add_(1))\nprint(y)\n", _NEW),
        ("y = ys[0]\ndef add():\n    y.add_(1)\nadd()\n", _NEW),
        ("y = ys[0]\ndef add():\n    global y\n    y.add_(1)\nadd()\n", "use `y = y.add(1)`"),
    ],
)
def test_the_help_fits_where_the_write_stands(body: str, said: str) -> None:
    found = check_file("program.py", _HEAD + body + _TAIL, Options()).findings
    assert {one.help for one in found if one.code == "IPL101"} == {said}


_STEPS = """
import torch
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
h = net(net(torch.rand(2, 2)))
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "net(torch.rand(2, 2)).sum().backward()\nopt.step()\nh.sum().backward()\n",
            "this backward needs the old value",
        ),
        (
            "for _ in range(2):\n    h.sum().backward(retain_graph=True)\n    opt.step()\n",
            "this backward needs the old value when it runs again",
        ),
    ],
)
def test_a_backward_above_the_write_is_one_that_runs_again(body: str, said: str) -> None:
    (found,) = check_file("program.py", _STEPS + body, Options()).findings
    assert [one.message for one in found.related if one.role is Role.BACKWARD] == [said]
