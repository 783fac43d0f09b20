"""The help of a write says what its text leaves room for."""

from __future__ import annotations

import pytest

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
