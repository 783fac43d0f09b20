"""How severe findings are, and which of them count or are hidden, as a project sets it."""

from __future__ import annotations

import pytest

# The write is certain in the first place, and rests on the assumption that `x` requires grad in the second.
MIXED = """\
import torch
from torch import nn

h = torch.ones(3, requires_grad=True)
y = h.exp()
y.add_(1)
y.sum().backward()


class Net(nn.Module):
    def forward(self, x):
        z = x.exp()
        z += 1
        return z
"""


@pytest.fixture
def mixed(folder):
    (folder / "a.py").write_text(MIXED)
    return folder


def severities(ran):
    return [line.split(": ")[1].partition("[")[0] for line in ran.out.splitlines() if ".py:" in line]


def configured(folder, text):
    (folder / "inplace-lint.toml").write_text(text)


def test_a_rule_has_the_severity_that_the_most_specific_selector_sets(lint, mixed):
    concise = ("--output-format=concise", ".")
    assert severities(lint(*concise)) == ["error", "warning"]
    configured(mixed, '[severity]\nIPL101 = "info"\nIPL1 = "warning"\nALL = "error"\n')
    ran = lint(*concise)
    assert (severities(ran), ran.status) == (["info", "info"], 0)
    configured(mixed, '[severity]\n"modified-after-save" = "error"\n')
    assert severities(lint(*concise)) == ["error", "error"]


def test_a_severity_applies_to_the_files_of_its_configuration_and_to_kept_results(lint, mixed):
    (mixed / "sub").mkdir()
    (mixed / "sub" / "b.py").write_text(MIXED)
    lint(".")
    (mixed / "sub" / "inplace-lint.toml").write_text('[severity]\nIPL1 = "info"\n')
    assert severities(lint("--output-format=concise", ".")) == ["error", "warning", "info", "info"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("severity = 3", "1: 'severity' must be a table of rules, not a number"),
        (
            "[severity]\nIPL101 = 'eror'",
            "2: 'severity' for 'IPL101' must be one of error, warning, info, not 'eror', did you mean 'error'?",
        ),
        (
            "[severity]\n\nIPL1 = 'info'\n'IPL101' = 'eror'",
            "4: 'severity' for 'IPL101' must be one of error, warning, info, not 'eror', did you mean 'error'?",
        ),
        (
            "[severity]\n'modified-after-save' = 'info'\nIPL102 = 'wrn'",
            "3: 'severity' for 'IPL102' must be one of error, warning, info, not 'wrn'",
        ),
        ("[per-file-ignores]\n'a.py' = ['IPL1']\n'b.py' = 3", "3: 'per-file-ignores' must have a list of rules for"),
        ("[severity]\nIPL1O1 = 'error'", "2: 'severity': unknown rule 'IPL1O1', did you mean 'IPL101'?"),
        ("fail-on = 'warnings'", "1: 'fail-on' must be one of error, warning, info, not 'warnings', did you mean"),
        (
            "assume = ['grad', 'no-grad']",
            "1: 'assume' must hold one of grad, no-grad, unknown, but holds grad, no-grad",
        ),
        ("hide-assuming = ['']", "1: 'hide-assuming' must have words of an assumption, such as 'requires grad', and"),
    ],
)
def test_a_wrong_value_is_one_line_with_the_nearest_right_word(lint, mixed, text, message):
    configured(mixed, text + "\n")
    ran = lint(".")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"inplace-lint.toml:{message}" in ran.err


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("--fail-on", "error"), 1),
        (("--fail-on", "error", "--config", 'severity={IPL1="warning"}'), 0),
        (("--config", 'severity={IPL1="warning"}'), 1),
        (("--fail-on", "info", "--config", 'severity={IPL1="info"}'), 1),
        (("--config", 'severity={IPL1="info"}'), 0),
        (("--fail-on", "info", "--config", 'severity={IPL1="info"}', "--exit-zero"), 0),
        (("--config", "fail-on='error'", "--config", 'severity={IPL1="warning"}'), 0),
    ],
)
def test_the_exit_status_counts_from_a_severity_on(lint, mixed, words, status):
    assert lint(*words, ".").status == status


@pytest.mark.parametrize("words", [("--assume", "no-grad"), ("--hide-assuming", "Requires Grad")])
def test_what_rests_on_a_hidden_assumption_is_counted_and_not_told(lint, mixed, words):
    ran = lint("--output-format=concise", *words, ".")
    assert severities(ran) == ["error"]
    assert "Found 1 error in 1 file. (1 more hidden by their assumptions)\n" in ran.out


def test_only_what_rests_on_an_assumption_is_told(lint, mixed):
    ran = lint("--output-format=concise", "--only-assuming", "requires grad", ".")
    assert severities(ran) == ["warning"]
    assert "(1 more hidden by their assumptions)" in ran.out


def test_an_option_overrides_the_assumption_of_the_configuration(lint, mixed):
    configured(mixed, 'assume = ["no-grad"]\n')
    assert severities(lint("--output-format=concise", ".")) == ["error"]
    assert severities(lint("--output-format=concise", "--assume", "unknown", ".")) == ["error", "warning"]


def test_contrary_options_are_refused(lint, mixed):
    ran = lint("--assume", "grad", "--assume", "no-grad", ".")
    assert ran == (2, "", "error: --assume must hold one of grad, no-grad, unknown, but holds grad, no-grad\n")
