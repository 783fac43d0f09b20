"""What the project says of who trains is asked once, and again when one of its files has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_lint.config.settings import Settings
from inplace_lint.driver import session
from inplace_lint.driver.store import Store
from inplace_lint.rules import RULE_OF
from inplace_lint.workspace.trainers import Trainers

HELPER = """\
import torch


def scale(x):
    y = x.exp()
    y += 1
    return y
"""
TRAINS = """\
import helper


def step(net, x):
    for batch in x:
        helper.scale(net(batch)).sum().backward()
"""
REPORTS = """\
import helper


def report(rows):
    return [helper.scale(row).tolist() for row in rows]
"""


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Return a function that checks a project in which another file uses the helper: the lines told, the questions."""
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").touch()
    Path("helper.py").write_text(HELPER, encoding="utf-8")
    asked: list[object] = []
    ask = Trainers.ask
    monkeypatch.setattr(Trainers, "ask", lambda self, asks: asked.append(asks) or ask(self, asks))
    settings = Settings(root=tmp_path, jobs=1)

    def run(user: str) -> tuple[list[int], int]:
        Path("user.py").write_text(user, encoding="utf-8")
        asked.clear()
        plan = session.Plan(settings, lambda _: settings, lambda _: frozenset(RULE_OF), store=Store(tmp_path / "cache"))
        outcome = session.run([Path("helper.py")], {}, plan)
        assert not outcome.failures
        return [one.span.line for one in outcome.findings if one.entry is None], len(asked)

    return run


def test_the_same_project_is_asked_once(told):
    lines, questions = told(TRAINS)
    assert lines == [6]
    assert questions > 0
    assert told(TRAINS) == (lines, 0)


def test_a_file_that_has_changed_is_asked_again(told):
    told(TRAINS)
    lines, questions = told(REPORTS)
    assert lines == []
    assert questions > 0
    assert told(REPORTS) == ([], 0)
    assert told(TRAINS) == ([6], 0)  # as it was before
