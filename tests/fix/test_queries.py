"""What fixes ask the tape: only the entry points that wrote where something was found are run again for it."""

from __future__ import annotations

from collections import Counter

import pytest

from inplace_lint.driver.analyze_file import Options, check_file
from inplace_lint.effects.edited import Part
from inplace_lint.fix.fixers import make_fixes
from inplace_lint.interp import entry_points
from tests.fix import mending
from tests.pages.examples import EXAMPLES

PROGRAM = """\
import torch
from torch import nn

fc = nn.Linear(4, 4)


def wrong(x):
    h = torch.sigmoid(fc(x))
    h += 1
    return h


def right(x):
    h = fc(x)
    h += 1
    return h
"""

SHIFTED = """\
import torch


def shift(t):
    t += 1


h = torch.rand(4, requires_grad=True) + 0
y = h.exp()
shift(y)
y.sum().backward()
"""


@pytest.fixture
def runs(monkeypatch):
    """Return how often each function or class was run as an entry point."""
    counted: Counter[str] = Counter()
    run = entry_points._run  # noqa: SLF001 - each of them goes through it

    def counting(interp, item, order):
        counted[item.name] += 1
        return run(interp, item, order)

    monkeypatch.setattr(entry_points, "_run", counting)
    return counted


def fixes():
    result = check_file("model.py", PROGRAM, Options(), make_fixes=make_fixes)
    return [(finding.code, finding.fix is not None) for finding in result.findings]


def test_what_wrote_elsewhere_is_not_run_again(runs):
    assert fixes() == [("IPL101", True)]
    assert runs == {"wrong": 2, "right": 1}


def test_all_is_run_again_where_a_part_does_not_write_there(runs, monkeypatch):
    monkeypatch.setattr(Part, "narrowed", lambda *_: Part(frozenset(), frozenset()))
    assert fixes() == [("IPL101", True)]
    assert runs == {"wrong": 2, "right": 2}


def test_nothing_is_run_again_where_nothing_is_found(runs):
    check_file("model.py", PROGRAM.replace("torch.sigmoid(fc(x))", "fc(x)"), Options(), make_fixes=make_fixes)
    assert runs == {"wrong": 1, "right": 1}


def test_an_opinion_at_the_same_place_takes_no_fix_from_an_error():
    for opinions in (False, True):
        found = check_file("model.py", SHIFTED, Options(opinions=opinions), make_fixes=make_fixes).findings
        assert [one.fix is not None for one in found if one.code == "IPL101"] == [True]


@pytest.mark.parametrize(
    "example", [pytest.param(one, id=one.name) for one in EXAMPLES[::25] if one.behaviour != "runs"]
)
def test_opinions_are_told_beside_what_is_told_without_them(example):
    """So that tests of examples need one run for both."""
    told = check_file(mending.PATH, example.program, Options(), make_fixes=make_fixes).findings
    assert told == mending.found(example.program, fixes=True)
