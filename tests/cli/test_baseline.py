"""Findings that a team accepts for now: what the baseline hides, and what it does not."""

from __future__ import annotations

import json

import pytest

FUNCTION = """\
def {name}(x):
    y = x.exp()
    y += 1
    return y.sum().backward()
"""
HEAD = "import torch\n\n\n"
CALL = "\n{name}(torch.ones(3, requires_grad=True))\n"


def program_of(*names: str) -> str:
    functions = "\n\n".join(FUNCTION.format(name=name) for name in names)
    return HEAD + functions + "\n" + "".join(CALL.format(name=name) for name in names)


@pytest.fixture
def tree(folder):
    (folder / "a.py").write_text(program_of("f", "g"))
    return folder


def test_what_a_baseline_lists_is_let_stand(lint, tree):
    assert lint("--write-baseline", "known.json", ".") == (0, "Wrote 2 findings to known.json.\n", "")
    assert lint("--baseline", "known.json", ".") == (0, "All checks passed! (2 more in the baseline)\n", "")
    entry = json.loads((tree / "known.json").read_text())["findings"][0]
    assert entry == {"rule": "IPL101", "path": "a.py", "function": "f", "content": "y += 1", "count": 1}


def test_what_is_new_is_reported(lint, tree):
    lint("--write-baseline", "known.json", ".")
    (tree / "a.py").write_text(program_of("f", "new", "g"))
    ran = lint("--baseline", "known.json", "--output-format=concise", ".")
    assert ran.status == 1
    assert [line.split(":")[1] for line in ran.out.splitlines() if "[IPL" in line] == ["12"]
    assert "\nFound 1 error in 1 file. (2 more in the baseline)\n" in ran.out


def test_edits_elsewhere_in_the_file_leave_it_in_force(lint, tree):
    lint("--write-baseline", "known.json", ".")
    (tree / "a.py").write_text("# a comment\n\n" + program_of("h", "f", "g").replace("y += 1", "y +=  1", 1))
    ran = lint("--baseline", "known.json", "--output-format=concise", ".")
    assert [line.split(":")[1] for line in ran.out.splitlines() if "[IPL" in line] == ["8"]


def test_entries_that_match_nothing_are_reported_and_taken_out_on_request(lint, tree):
    lint("--write-baseline", "known.json", ".")
    (tree / "a.py").write_text(program_of("g"))
    ran = lint("--baseline", "known.json", ".")
    assert (ran.status, ran.err) == (0, "known.json: nothing matches IPL101 in a.py, `f` any more\n")
    assert lint("--baseline", "known.json", "--prune-baseline", ".").out == "Removed 1 finding from known.json.\n"
    assert lint("--baseline", "known.json", ".") == (0, "All checks passed! (1 more in the baseline)\n", "")


def test_pruning_takes_in_nothing_new(lint, tree):
    lint("--write-baseline", "known.json", ".")
    (tree / "a.py").write_text(program_of("g", "new"))
    lint("--baseline", "known.json", "--prune-baseline", ".")
    assert lint("--baseline", "known.json", ".").status == 1


def test_of_files_that_were_not_checked_nothing_is_said_and_nothing_lost(lint, tree):
    (tree / "b.py").write_text(program_of("f"))
    lint("--write-baseline", "known.json", ".")
    (tree / "a.py").write_text(program_of("g"))
    assert lint("--baseline", "known.json", "b.py") == (0, "All checks passed! (1 more in the baseline)\n", "")
    assert lint("--write-baseline", "known.json", "a.py").out == "Wrote 2 findings to known.json.\n"
    assert lint("--baseline", "known.json", ".") == (0, "All checks passed! (2 more in the baseline)\n", "")


def test_a_file_that_is_gone_is_reported(lint, tree):
    lint("--write-baseline", "known.json", ".")
    (tree / "a.py").unlink()
    assert lint("--baseline", "known.json", ".").err.count("in a.py") == 2


def test_a_baseline_of_the_configuration_counts_from_its_folder(lint, tree):
    (tree / "sub").mkdir()
    (tree / "a.py").rename(tree / "sub/a.py")
    (tree / "sub/inplace-lint.toml").write_text('baseline = "known.json"\n')
    (tree / "inplace-lint.toml").write_text('baseline = "sub/known.json"\n')
    lint("--write-baseline", "sub/known.json", ".")
    assert lint(".") == (0, "All checks passed! (2 more in the baseline)\n", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file or directory"),
        ("{", "not valid JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", "not a baseline of version 1: write it with --write-baseline"),
        (
            '{"version": 1, "findings": [{"rule": "IPL101"}]}',
            "entry 1 lacks one of rule, path, function, content, or its count is not a positive whole number",
        ),
    ],
)
def test_a_wrong_baseline_is_named(lint, tree, text, message):
    if text is not None:
        (tree / "known.json").write_text(text)
    assert lint("--baseline", "known.json", ".") == (2, "", f"error: --baseline: {tree / 'known.json'}: {message}\n")
    (tree / "inplace-lint.toml").write_text('jobs = 1\nbaseline = "known.json"\n')
    where = f"{tree / 'inplace-lint.toml'}:2: 'baseline'"
    for words in ((), ("--prune-baseline",)):
        assert lint(*words, ".") == (2, "", f"error: {where}: {tree / 'known.json'}: {message}\n")
    ran = lint("--isolated", "--config", "baseline='known.json'", ".")
    assert ran == (2, "", f"error: --config: 'baseline': {tree / 'known.json'}: {message}\n")
