"""After an edit of a text, what it affects is run again, and what the rest of the file does is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_lint.config.settings import Settings
from inplace_lint.driver import session
from inplace_lint.driver.after_edit import Move
from inplace_lint.driver.store import Store
from inplace_lint.effects import affected
from inplace_lint.rules import RULE_OF
from inplace_lint.workspace.memory import Memory

FILE = """\
import torch
from torch import nn


def scale(x, by):
    return x * by


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        h = torch.exp(self.linear(x))
        return scale(h, 2)


class Second(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        h = torch.sigmoid(self.linear(x))
        h *= 2
        return h


def train(x):
    model = Second()
    y = torch.exp(model.linear(x))
    y.add_(1)
    y.sum().backward()
"""


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """Return a function that gives the findings in a text that follows the one before, and the entry points run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(affected, "_STEPS_AT_ONCE", 8)
    Path("net.py").write_text(FILE, encoding="utf-8")
    settings = Settings(root=tmp_path, jobs=1)
    plan = session.Plan(
        settings, lambda _: settings, lambda _: frozenset(RULE_OF), store=Store(None), memory=Memory(), callers=False
    )
    plan = plan._replace(earlier={})

    def run(text: str, *, whole: bool = False) -> tuple[list[tuple[str, int]], int]:
        asked = plan._replace(texts={"net.py": text.encode()}, earlier=None if whole else plan.earlier)
        outcome = session.run([Path("net.py")], {}, asked)
        assert not outcome.failures
        return [(one.code, one.span.line) for one in outcome.findings], outcome.counters["roots"]

    return run


def test_what_is_found_is_what_a_run_of_the_whole_file_finds(edited):
    before, entries = edited(FILE)
    assert before == [("IPL101", 26), ("IPL101", 33)]
    text = FILE.replace("        return scale(h, 2)\n", "        h += 1\n        return scale(h, 2)\n")
    after, fewer = edited(text)
    assert after == [("IPL101", 16), ("IPL101", 27), ("IPL101", 34)]
    assert fewer < entries
    assert edited(text, whole=True)[0] == after
    text = text.replace("        h *= 2\n", "        h = h * 2\n        h = h + 1\n")
    after, fewer = edited(text)
    assert after == [("IPL101", 16), ("IPL101", 35)]
    assert fewer < entries
    assert edited(text, whole=True)[0] == after


def test_what_uses_the_edited_function_is_run(edited):
    edited(FILE)
    text = FILE.replace("    return x * by\n", "    x.mul_(by)\n    return x\n")
    after, _ = edited(text)
    assert after == [("IPL101", 6), ("IPL101", 27), ("IPL101", 34)]
    assert edited(text, whole=True)[0] == after


def test_what_an_edited_function_makes_a_method_of_an_object_is_run(edited):
    patched = """

def scaled(self, x):
    y = torch.exp(self.linear(x))
    y *= 2
    return y


def patch(part):
    if isinstance(part, First):
        part.forward = scaled.__get__(part)
"""
    text = FILE + patched
    before = [("IPL101", 26), ("IPL101", 33), ("IPL101", 39)]
    assert edited(text)[0] == before
    other = text.replace("isinstance(part, First)", "isinstance(part, list)")
    after = edited(other)[0]
    assert after == before[:2]
    assert edited(other, whole=True)[0] == after


def test_what_only_a_caller_finds_is_kept_until_that_is_run(edited):
    plain = FILE.replace("        h *= 2\n", "")
    text = plain.replace("    y = torch.exp(model.linear(x))\n", "    y = model(x)\n")
    assert edited(text)[0] == [("IPL101", 32)]
    mended = text.replace("        return h\n", "        return h + 1\n")
    assert edited(mended)[0] == [("IPL101", 32)]
    assert edited(mended, whole=True)[0] == []


@pytest.mark.parametrize(
    "change",
    [
        ("from torch import nn\n", "from torch import nn\nimport math\n"),
        ("def scale(x, by):", "def scale(x, by=2):"),
        ("class Second(nn.Module):", "class Third(nn.Module):"),
        ("    y.sum().backward()\n", "    y.sum().backward()\n\n\ntrain(torch.rand(3))\n"),
    ],
)
def test_an_edit_of_what_the_file_defines_runs_all_of_it(edited, change):
    _, entries = edited(FILE)
    text = FILE.replace(*change)
    if "Third" in text:
        text = text.replace("Second()", "Third()")
    after, again = edited(text)
    assert again >= entries
    assert after == edited(text, whole=True)[0]


def test_lines_are_moved_by_what_an_edit_adds():
    move = Move("a.py", first=4, old=6, new=9)
    assert move._lines(1, 4) == (1, 4)  # noqa: SLF001 - what findings are moved by
    assert move._lines(7, 8) == (10, 11)  # noqa: SLF001
    assert move._lines(4, 5) is None  # noqa: SLF001
    assert move._lines(2, 8) is None  # noqa: SLF001
