"""What is told only where somebody in sight asks for the gradient that a finding assumes, and with `--assume grad`."""

from __future__ import annotations

import pytest

HELPER = """\
import torch


def scale(x):
    y = x.exp()
    y += 1
    return y
"""
NET = """\
from torch import nn

from helper import scale


class Net(nn.Module):
    def forward(self, x):
        return scale(x) if self.training else x
"""
STEP = """\
import helper


def step(net, x):
    for batch in x:
        helper.scale(net(batch)).sum().backward()
"""
EVALUATION = """\
from helper import scale


def report(rows):
    return [scale(row).tolist() for row in rows]
"""
QUIET = (0, "All checks passed! (1 more with `--assume grad`)\n", "")


@pytest.fixture
def tree(folder):
    (folder / "pyproject.toml").write_text("")
    (folder / "helper.py").write_text(HELPER)
    return folder


def test_a_function_with_nobody_in_sight_is_counted_and_not_told(lint, tree):
    assert lint(".") == QUIET
    (tree / "evaluation.py").write_text(EVALUATION)
    assert lint(".") == QUIET


@pytest.mark.parametrize("user", [NET, STEP])
def test_somebody_who_trains_through_it_is_told(lint, tree, user):
    (tree / "user.py").write_text(user)
    for path in (".", "helper.py"):
        ran = lint("--output-format=concise", path)
        assert ran.status == 1
        assert ran.out.startswith("helper.py:6:5: warning[IPL101]")


def test_a_file_that_trains_is_told_of_its_own_functions(lint, tree):
    (tree / "helper.py").write_text(HELPER + "\n\ndef fit(net, x):\n    net(x).backward()\n")
    assert lint(".").status == 1


def test_the_option_and_the_setting_tell_it(lint, tree):
    assert lint("--assume", "grad", ".").status == 1
    (tree / "inplace-lint.toml").write_text('assume = ["grad"]\n')
    assert lint(".").status == 1


def test_a_wrong_assumption_is_refused(lint, tree):
    (tree / "inplace-lint.toml").write_text('assume = ["gradient"]\n')
    assert "must be one of grad, not 'gradient', did you mean 'grad'?" in lint(".").err


def test_a_comment_that_silences_what_is_not_told_is_not_unused(lint, tree):
    (tree / "helper.py").write_text(HELPER.replace("y += 1", "y += 1  # noqa: IPL101"))
    assert lint("--select", "IPL1,IPL901", ".") == (0, "All checks passed!\n", "")


def test_a_second_run_from_the_cache_says_the_same(lint, tree):
    assert lint(".") == lint(".") == QUIET
