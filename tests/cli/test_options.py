"""Options that say where settings come from, and those that show what a run would do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_lint.cli import terminal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ERROR = "error[IPL101]"


@pytest.fixture
def tree(folder, buggy, clean):
    """Return a folder with two faulty files and a clean one."""
    for name, text in (("a.py", buggy), ("tests/b.py", buggy), ("c.py", clean)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def found(ran) -> list[str]:
    return [line.partition(":")[0] for line in ran.out.splitlines() if ERROR in line]


@pytest.mark.parametrize(
    ("value", "files"),
    [
        ("tests/*:IPL101", ["a.py"]),
        ("tests/*:IPL3,IPL101", ["a.py"]),
        ("tests/*:modified-after-save,a.py:IPL1", []),
        ("tests/*:IPL3", ["a.py", "tests/b.py"]),
    ],
)
def test_rules_are_ignored_in_files_by_pattern(lint, tree, value, files):
    assert found(lint("--output-format=concise", "--per-file-ignores", value, ".")) == files


@pytest.mark.parametrize("value", ["tests/*", ":IPL101", "a.py:", "a.py:IPL101,,"])
def test_a_pattern_without_a_rule_is_refused(lint, tree, value):
    ran = lint("--per-file-ignores", value, ".")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith(f"--per-file-ignores must be `PATTERN:CODE[,CODE]`, not {value!r}\n")


@pytest.mark.parametrize("pattern", ["!", "[", "a[b", "a[]", "a[!]"])
@pytest.mark.parametrize("words", [("--exclude", "ok,{0}"), ("--per-file-ignores", "{0}:IPL1")])
def test_what_can_be_no_pattern_is_refused(lint, tree, words, pattern):
    ran = lint(*(word.format(pattern) for word in words), ".")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith(f"{words[0]} has {pattern!r}, which is not a valid file pattern\n")


@pytest.mark.parametrize("pattern", ["[b]*", "[]b]*", "[!c]*", r"[\]b]*", r"\[", "[[:lower:]]*", "]"])
def test_brackets_that_are_closed_or_escaped_are_patterns(lint, tree, pattern):
    assert lint("--exclude", pattern, "--show-files", ".").status == 0


def test_a_wrong_rule_in_it_is_named(lint, tree):
    ran = lint("--per-file-ignores", "a.py:IPL1O1", ".")
    assert (ran.status, ran.err) == (
        2,
        "error: --per-file-ignores: unknown rule 'IPL1O1', did you mean 'IPL101'?\n",
    )


def test_isolated_reads_no_configuration(lint, tree):
    (tree / "inplace-lint.toml").write_text('ignore = ["IPL1"]\n')
    assert found(lint("--output-format=concise", ".")) == []
    assert found(lint("--output-format=concise", "--isolated", ".")) == ["a.py", "tests/b.py"]


def test_a_named_configuration_is_the_only_one(lint, tree):
    (tree / "inplace-lint.toml").write_text('ignore = ["IPL1"]\n')
    (tree / "ci").mkdir()
    (tree / "ci/lint.toml").write_text('exclude = ["tests/"]\noutput-format = "concise"\n')
    assert found(lint("--config", "ci/lint.toml", ".")) == ["a.py"]


def test_a_key_of_the_configuration_counts_before_files_and_after_options(lint, tree):
    (tree / "inplace-lint.toml").write_text('output-format = "grouped"\nexclude = ["c.py"]\n')
    words = ("--config", 'output-format = "concise"', "--config", 'exclude = ["tests"]')
    assert found(lint(*words, ".")) == ["a.py"]
    assert lint(*words, "--output-format=pylint", ".").out.startswith("a.py:5: [IPL101] ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--config", "selct=['IPL1']"), "--config: unknown key 'selct', did you mean 'select'?"),
        (("--config", "select='IPL1'"), "--config: 'select' must be a list of strings, not a string"),
        (("--config", "select=['IPL1O1']"), "--config: 'select': unknown rule 'IPL1O1', did you mean 'IPL101'?"),
        (("--config", "extend='a.toml'"), "--config: 'extend' can only be set in a file"),
        (("--config", "none.toml"), "none.toml: no such file or directory"),
        (("--config", "pyproject.toml"), "pyproject.toml: has no table `[tool.inplace-lint]`"),
        (
            ("--isolated", "--config", "pyproject.toml"),
            "--config pyproject.toml: --isolated ignores configuration files",
        ),
        (("--config", "ok.toml", "--config", "ok.toml"), "--config ok.toml: only one file can be given"),
    ],
)
def test_a_wrong_configuration_on_the_command_line_is_named(lint, tree, words, message):
    (tree / "ok.toml").write_text("jobs = 1\n")
    assert lint(*words, ".") == (2, "", f"error: {message}\n")


def test_text_that_is_neither_a_file_nor_a_key_says_so(lint, tree):
    ran = lint("--config", "jobs=", ".")
    assert ran.status == 2
    assert ran.err.startswith("error: --config: 'jobs=' is neither a file nor `KEY=VALUE`")


def test_a_configuration_extends_another(lint, tree):
    (tree / "base.toml").write_text('output-format = "concise"\nignore = ["IPL1"]\nextend-select = ["IPL3"]\n')
    (tree / "inplace-lint.toml").write_text('extend = "base.toml"\nignore = []\nextend-select = ["IPL2"]\n')
    assert found(lint(".")) == ["a.py", "tests/b.py"]
    shown = tomllib.loads(lint("--show-settings", ".").out)
    assert (shown["ignore"], shown["extend-select"]) == ([], ["IPL3", "IPL2"])


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (None, "inplace-lint.toml:1: 'extend' names {folder}/base.toml, which is not a file"),
        ('extend = "inplace-lint.toml"', "base.toml:1: 'extend' leads back to {folder}/inplace-lint.toml"),
        ('select = ["IPL1O1"]', "base.toml:1: 'select': unknown rule 'IPL1O1', did you mean 'IPL101'?"),
        ("jbs = 1", "base.toml:1: unknown key 'jbs', did you mean 'jobs'?"),
    ],
)
def test_what_is_wrong_with_an_extended_configuration_is_named(lint, tree, base, message):
    (tree / "inplace-lint.toml").write_text('extend = "base.toml"\n')
    if base is not None:
        (tree / "base.toml").write_text(base + "\n")
    ran = lint(".")
    assert (ran.status, ran.err) == (2, f"error: {tree}/{message.format(folder=tree)}\n")


def test_shown_settings_say_what_an_empty_value_stands_for(lint, tree):
    shown = lint("--show-settings", ".").out
    assert "select = []  # the rules that are on by default\n" in shown
    assert "exclude = []  # besides folders that are always skipped: " in shown


def test_show_files_lists_what_would_be_checked(lint, tree):
    (tree / ".gitignore").write_text("c.py\n")
    assert lint("--show-files", ".") == (0, "a.py\ntests/b.py\n", "")
    assert lint("--show-files", "--exclude", "tests", ".", "none.py") == (
        2,
        "a.py\n",
        "none.py: no such file or directory\n",
    )


def test_what_a_configuration_below_excludes_is_passed_over_from_above_too(lint, tree):
    (tree / "tests/inplace-lint.toml").write_text('exclude = ["/b.py"]\n')
    assert lint("--show-files", ".") == lint("--show-files") == (0, "a.py\nc.py\n", "")
    assert found(lint("--output-format=concise", ".")) == ["a.py"]
    assert lint("--isolated", "--show-files", ".").out == "a.py\nc.py\ntests/b.py\n"


def test_what_is_excluded_is_passed_over_where_it_is_named_if_that_is_forced(lint, tree):
    (tree / "build").mkdir()
    (tree / "build/d.py").write_text((tree / "a.py").read_text())
    (tree / "inplace-lint.toml").write_text('exclude = ["tests/"]\noutput-format = "concise"\n')
    paths = ("a.py", "tests/b.py", "build/d.py")
    assert found(lint(*paths)) == ["a.py", "build/d.py", "tests/b.py"]
    assert found(lint("--force-exclude", *paths)) == ["a.py"]
    assert lint("--force-exclude", "--show-files", *paths).out == "a.py\n"
    (tree / "inplace-lint.toml").write_text('exclude = ["tests/"]\noutput-format = "concise"\nforce-exclude = true\n')
    assert found(lint(*paths)) == ["a.py"]
    assert len(found(lint("--no-force-exclude", *paths))) == 3


def test_standard_input_under_an_excluded_name_is_passed_over_if_that_is_forced(lint, tree, buggy):
    (tree / "inplace-lint.toml").write_text('exclude = ["tests/"]\noutput-format = "concise"\n')
    words = ("-", "--stdin-filename", "tests/b.py")
    assert found(lint(*words, stdin=buggy.encode())) == ["tests/b.py"]
    assert lint("--force-exclude", *words, stdin=buggy.encode()) == (0, "All checks passed!\n", "")
    assert lint("--force-exclude", "--fix", *words, stdin=buggy.encode())[:2] == (0, buggy)
    assert lint("--force-exclude", "--show-files", *words) == (0, "", "")
    assert lint("--show-files", *words) == (0, "tests/b.py\n", "")


def test_a_name_for_standard_input_is_enough_to_read_it(lint, tree, buggy):
    assert found(lint("--output-format=concise", "--stdin-filename", "x.py", stdin=buggy.encode())) == ["x.py"]


def test_what_is_shown_goes_into_the_file_that_is_asked_for(lint, tree):
    assert lint("--show-files", "-o", "list.txt", "tests") == (0, "", "")
    assert (tree / "list.txt").read_text() == "tests/b.py\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-", "a.py"), "`-` (standard input) cannot be combined with other paths"),
        (("--stdin-filename", "x.py", "a.py"), "--stdin-filename can only be used with `-`"),
        (
            ("--add-noqa", "--write-baseline", "b.json"),
            "--add-noqa cannot be combined with --write-baseline: run one after the other",
        ),
        (
            ("--prune-baseline", "--add-noqa"),
            "--add-noqa cannot be combined with --prune-baseline: run one after the other",
        ),
    ],
)
def test_options_that_do_not_go_together_are_named(lint, tree, words, message):
    assert lint(*words) == (2, "", f"error: {message}\n")


def test_show_settings_is_toml_that_gives_the_same_settings(lint, tree):
    text = 'select = ["IPL1"]\njobs = 2\n[per-file-ignores]\n"tests/*" = ["IPL102"]\n'
    (tree / "inplace-lint.toml").write_text(text)
    ran = lint("--show-settings", "tests/b.py")
    assert ran.status == 0
    assert ran.out.startswith("# Settings for tests/b.py, from inplace-lint.toml\n")
    assert tomllib.loads(ran.out).items() >= tomllib.loads(text).items()
    assert "#   IPL101  modified-after-save" in ran.out
    assert "#   IPL102" not in ran.out
    (tree / "inplace-lint.toml").write_text(ran.out)
    again = lint("--show-settings", "tests/b.py")
    assert again.out == ran.out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("inplace-lint --sel", {"--select"}),
        ("inplace-lint check --output-format js", {"json", "json-lines"}),
        ("inplace-lint src/ --st", {"--statistics", "--stdin-filename"}),
        ("inplace-lint --select IPL101,IPL10", {f"IPL101,IPL10{last}" for last in "1234"}),
        ("inplace-lint rul", {"rule"}),
        ("inplace-lint rule leaf-", {"leaf-write", "leaf-view-write"}),
    ],
)
def test_a_shell_completes_words(lint, line, words):
    place = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    ran = lint(_INPLACE_LINT_COMPLETE="bash_complete", **place)
    assert {word.partition(",")[2] for word in ran.out.split()} == words


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (("--sel",), ["--select"]),
        (("check", "--output-format", "s"), ["sarif"]),
        (("check", "--device", "c"), ["cpu", "cuda"]),
        (("rule", "IPL50"), ["IPL501"]),
        (("check", "--ignore", "IPL1,leaf-w"), ["IPL1,leaf-write"]),
    ],
)
def test_a_bash_that_has_read_its_script_completes(tmp_path, words, completed):
    program = tmp_path / "inplace-lint"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m inplace_lint "$@"\n')
    program.chmod(0o755)
    script = (
        'source <(inplace-lint completion bash)\nCOMP_WORDS=(inplace-lint "$@")\nCOMP_CWORD=$#\n'
        '"$(complete -p inplace-lint | sed "s/.*-F \\([^ ]*\\).*/\\1/")" inplace-lint\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    command = ["bash", "--norc", "-c", script, "bash", *words]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == completed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_variable_that_turns_it_on(lint, shell):
    ran = lint("completion", shell)
    assert ran.status == 0
    assert f"_INPLACE_LINT_COMPLETE={shell}_complete" in ran.out


def test_codes_are_links_to_pages_where_the_terminal_shows_links(lint, tree):
    ran = lint("--color=always", "a.py", FORCE_HYPERLINK="1")
    start, _, rest = ran.out.partition("\x1b]8;;https://")
    address, _, text = rest.partition("\x1b\\")
    assert start.startswith("\x1b[1;31merror[")
    assert address.endswith("/rules/modified-after-save/")
    assert text.startswith("\x1b[1;31mIPL101\x1b[0m\x1b]8;;\x1b\\")
    assert "\x1b]8" not in lint("--color=always", "a.py", FORCE_HYPERLINK="0").out
    assert "\x1b]8" not in lint("--color=always", "a.py").out  # a pipe shows none
    assert "\x1b" not in lint("--color=never", "a.py", FORCE_HYPERLINK="1").out


@pytest.mark.parametrize(
    ("environment", "shows"),
    [
        ({}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"VTE_VERSION": "7600"}, True),
        ({"VTE_VERSION": "4205"}, False),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"WT_SESSION": "1"}, True),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, False),
    ],
)
def test_terminals_that_show_links_are_known(monkeypatch, environment, shows):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert terminal.shows_links(environment) is shows


OPINIONS = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        x += 1
        return x
"""


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ((), set()),
        (("--select", "IPL501"), {"IPL501"}),
        (("--extend-select", "IPL3"), {"IPL303"}),
        (("--select", "ALL"), {"IPL303", "IPL501"}),
        (("--select", "ALL", "--ignore", "IPL303"), {"IPL501"}),
        (("--select", "ALL", "--per-file-ignores", "*.py:IPL501"), {"IPL303"}),
    ],
)
def test_opinions_are_reported_to_who_asks_and_never_fail_a_run(lint, folder, words, codes):
    (folder / "a.py").write_text(OPINIONS)
    for _ in range(2):  # the second is answered by the cache
        ran = lint(*words, "--output-format=concise", ".")
        assert ran.status == 0
        assert {line.split("[")[1][:6] for line in ran.out.splitlines() if "info[" in line} == codes


@pytest.mark.parametrize(
    ("environment", "is_terminal", "colours"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"CLICOLOR_FORCE": "1"}, False, True),
        ({"CLICOLOR_FORCE": "0"}, False, False),
        ({"CLICOLOR": "0"}, True, False),
        ({"CLICOLOR": "1"}, False, False),
    ],
)
def test_colours_follow_the_variables_that_other_tools_follow(monkeypatch, environment, is_terminal, colours):
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    assert terminal.wants_color("auto", is_file=False) is colours


GATED = """\
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width=4, norm=False):
        super().__init__()
        self.gate, self.norm = nn.Linear(width, width), norm

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        if self.norm:
            weights /= weights.sum(-1, keepdim=True)
        return weights
"""


def test_json_has_the_options_of_a_program_with_which_a_finding_happens(lint, folder, buggy):
    (folder / "a.py").write_text(GATED)
    (folder / "b.py").write_text(buggy)
    for _ in "a run", "the store":
        lint("--output-format=json", "-o", "found.json", ".")
        with_it, without = json.loads((folder / "found.json").read_text())
        assert (with_it["options"], without["options"]) == (["norm=True"], [])
        assert with_it["message"].startswith("with `norm=True`, ")
    for log in (lint("--output-format=sarif", "."), lint("merge", "found.json", "--output-format=sarif")):
        seen = [result["properties"].get("options") for result in json.loads(log.out)["runs"][0]["results"]]
        assert seen == [["norm=True"], None]
