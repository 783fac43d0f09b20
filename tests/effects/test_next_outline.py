"""The outline after an edit is that of the whole text, whatever is typed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from inplace_lint.effects import next_outline
from inplace_lint.effects.next_outline import LastOutline
from inplace_lint.effects.summary import Outline, outline

HERE = Path(__file__).resolve()
ROOTS = ["paddle", "torch"]
SOURCE = '''\
import torch
from torch import nn

SIZES = [
    1,
    2,
]


@torch.no_grad()
def clip(p, limit=(
    1.0
)):
    """
    A text:
        p.add_(1)
    """
    p.clamp_(-limit, limit)
    # the end


class Net(nn.Module):
    act = nn.ReLU(inplace=True)

    class Inner:
        x = 1

    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)

    @property
    def size(self): return self.fc.weight.shape

    def forward(self, x):
        h = self.fc(x)

        h += 1
        return self.act(h)


if torch.cuda.is_available():
    class Fast(Net):
        def forward(self, x):
            return x.relu_()

    def fast(x):
        return x


def last(x):
    return x.exp_()'''
TYPED = [
    "    h.add_(1)\n",
    "        x *= 2\n",
    "    return None\n",
    "    \n",
    "\n",
    "    # a comment\n",
    "  off = 1\n",
    '    """\n',
    "    (\n",
    "    )\n",
    "    import paddle\n",
    "\tx = 1\n",
    "    if x:\n",
    "    def inner(y): y.mul_(2)\n",
    "    x = 1; y = 2\n",
    "    x = \\\n",
    "    '''",
    "    a\x0cb = 1\n",
    "x = 1\n",
    "@staticmethod\n",
    "def g(x): return x.add_(1)\n",
    "    yield\r\n",
    "    x: int = 3\r",
    "    global SIZES\n",
]


def made(path: str, source: str) -> Outline | None:
    try:
        return outline(path, source, ROOTS)
    except SyntaxError:
        return None


def typed(rng: random.Random, source: str) -> str:
    """Return a text with some lines put in, left out or replaced at one place."""
    lines = source.splitlines(keepends=True)
    at = rng.randint(0, len(lines))
    gone = rng.choice([0, 0, 0, 1, 1, 2, 5])
    return "".join([*lines[:at], *rng.choices(TYPED, k=rng.choice([0, 1, 1, 2])), *lines[at + gone :]])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("origin", ["text", "file"])
def test_the_outline_after_an_edit_is_that_of_the_whole_text(seed, origin):
    rng = random.Random(seed)
    source = SOURCE if origin == "text" else (HERE.parents[1] / "store" / "edits.py").read_text()
    last = LastOutline()
    assert last.after("m.py", source, ROOTS) == made("m.py", source)
    for _ in range(150):
        text = typed(rng, source)
        expected = made("m.py", text)
        if expected is None:
            with pytest.raises(SyntaxError):
                last.after("m.py", text, ROOTS)
            continue
        assert last.after("m.py", text, ROOTS) == expected, text
        source = text if rng.random() < 0.7 else source


def test_an_edit_inside_of_a_function_has_only_that_one_read(monkeypatch):
    last = LastOutline()
    last.after("m.py", SOURCE, ROOTS)
    monkeypatch.setattr(next_outline, "outlined", None)  # the whole file would be
    for old, new in (
        ("        h += 1\n", "        h += 2\n\n        h = h\n"),
        ("    return x.exp_()", "    return x"),
    ):
        text = SOURCE.replace(old, new)
        assert last.after("m.py", text, ROOTS) == made("m.py", text)
        assert last.after("m.py", SOURCE, ROOTS) == made("m.py", SOURCE)
