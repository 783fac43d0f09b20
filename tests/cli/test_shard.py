"""A run that is divided between machines, and its results joined again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HELPER = "def scale(y):\n    y += 1\n    return y\n"
USER = """\
import torch
from torch import nn

from pkg.helper import scale


class Net{number}(nn.Module):
    def forward(self, x):
        h = torch.relu(x)
        h += {number}
        return scale(x.exp()) + h
"""


@pytest.fixture
def project(folder, buggy):
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").write_text("")
    (folder / "pkg" / "helper.py").write_text("import torch\n\n\n" + HELPER)
    for number in range(7):
        (folder / "pkg" / f"net{number}.py").write_text(USER.format(number=number) + "\n" * number * 40)
    (folder / "script.py").write_text(buggy)
    cell = {"cell_type": "code", "source": buggy, "metadata": {}, "outputs": [], "execution_count": None}
    (folder / "book.ipynb").write_text(json.dumps({"cells": [cell] * 2, "metadata": {}, "nbformat": 4}))
    return folder


def shards(lint, folder, of, *words):
    names = []
    for number in range(1, of + 1):
        names.append(f"{number}.json")
        ran = lint("--no-cache", "--output-format=json", "-o", names[-1], f"--shard={number}/{of}", *words, ".")
        assert ran.status in {0, 1}, ran
    return names


@pytest.mark.parametrize("of", [1, 2, 3, 20])
def test_the_parts_together_say_what_one_run_says(lint, project, of):
    names = shards(lint, project, of)
    for form in ("json", "json-lines", "sarif", "github", "gitlab", "junit", "azure", "rdjson", "pylint", "concise"):
        whole = lint("--no-cache", "--assume", "unknown", f"--output-format={form}", ".")
        assert lint("merge", f"--output-format={form}", *names[::-1]) == whole, form
    assert whole.status == 1


def test_each_file_is_in_one_part(lint, project):
    rows = [json.loads((project / name).read_text()) for name in shards(lint, project, 3)]
    assert all(rows)
    parts = [{row["filename"] for row in some if row["name"] != "helper.py"} for some in rows]
    nets = [name for part in parts for name in part if "net" in name]
    assert len(nets) == len(set(nets)) == 7


@pytest.mark.parametrize("word", ["9/8", "0/8", "1", "1/0", "a/b", "-1/2", "1/2/3"])
def test_a_part_that_there_is_not_is_refused(lint, project, word):
    ran = lint(f"--shard={word}", ".")
    assert ran == (2, "", f"error: --shard must be K/N with K from 1 to N, such as 2/4, not '{word}'\n")


def test_standard_input_has_no_parts(lint, project):
    assert lint("--shard=1/2", "-").status == 2


def test_keys_that_are_not_known_are_kept(lint, project):
    (name,) = shards(lint, project, 1)
    rows = [{**row, "mine": {"ticket": 7}} for row in json.loads((project / name).read_text())]
    (project / name).write_text(json.dumps(rows))
    assert json.loads(lint("merge", "--output-format=json", name, name).out) == rows


def test_the_surest_of_two_findings_at_a_place_is_kept(lint, project):
    (name,) = shards(lint, project, 1)
    rows = json.loads((project / name).read_text())
    (project / "other.json").write_text(json.dumps([{**row, "severity": "info"} for row in rows]))
    for names in ((name, "other.json"), ("other.json", name)):
        assert json.loads(lint("merge", "--output-format=json", *names).out) == rows


def test_the_exit_status_counts_as_in_a_run(lint, project):
    (name,) = shards(lint, project, 1)
    rows = json.loads((project / name).read_text())
    (project / name).write_text(json.dumps([{**row, "severity": "warning"} for row in rows]))
    assert [lint("merge", *words, name).status for words in ((), ("--fail-on", "error"), ("--exit-zero",))] == [1, 0, 0]
    (project / name).write_text("[]")
    assert lint("merge", name) == (0, "All checks passed!\n", "")


def changed(row, key, value):
    return json.dumps([row, {**row, key: value}])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lambda _: "{", "not valid JSON: "),
        (lambda _: '{"a": 1}', "no list of findings, as `--output-format json` writes it"),
        (lambda _: "[3]", "finding 1: must be an object, not 3"),
        (lambda _: "[{}]", "finding 1: "),
        (
            lambda row: changed(row, "severity", "eror"),
            "finding 2: 'severity' must be one of error, warning, info, not 'eror', did you mean 'error'?",
        ),
        (lambda row: changed(row, "code", 3), "finding 2: 'code' must be a string, not 3"),
        (
            lambda row: changed(row, "location", {"row": 0, "column": 1}),
            "finding 2: 'row' must be a positive whole number",
        ),
        (lambda row: changed(row, "related", {}), "finding 2: 'related' must be a list, not {}"),
        (lambda row: changed(row, "fix", {"edits": [1]}), "finding 2: must be an object, not 1"),
    ],
)
def test_a_file_that_is_no_result_is_one_line(lint, project, text, message):
    (name,) = shards(lint, project, 1)
    (project / "bad.json").write_text(text(json.loads((project / name).read_text())[0]))
    ran = lint("merge", name, "bad.json")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"bad.json: {message}" in ran.err


def test_a_file_that_is_not_there_is_one_line(lint, folder):
    assert lint("merge", "gone.json") == (2, "", "error: gone.json: no such file or directory\n")


def test_files_are_divided_by_what_they_were_measured_to_cost(lint, project):
    names = ["book.ipynb", "script.py", "pkg/__init__.py", "pkg/helper.py", *(f"pkg/net{at}.py" for at in range(7))]
    costs = dict.fromkeys(names, 1)
    (project / "costs.json").write_text(json.dumps({**costs, "pkg/net0.py": 9}))
    names = shards(lint, project, 2, "--shard-costs=costs.json")
    parts = [json.loads((project / name).read_text()) for name in names]
    first, second = ({Path(row["filename"]).name for row in part} for part in parts)
    assert {name for name in second if "net" in name} == {f"net{number}.py" for number in range(1, 7)}
    assert "net0.py" in first
    whole = lint("--no-cache", "--assume", "unknown", "--output-format=concise", ".")
    assert lint("merge", "--output-format=concise", *names) == whole


def test_the_cache_knows_what_files_cost(lint, project):
    assert json.loads(lint("cache", "costs").out) == {}
    lint(".")
    costs = json.loads(lint("cache", "costs").out)
    assert costs.keys() == {"script.py", "book.ipynb", "pkg/helper.py", *(f"pkg/net{number}.py" for number in range(7))}
    assert 0 <= min(costs.values()) < max(costs.values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a.py": -1}', "costs.json: 'a.py': -1 is not a number of milliseconds"),
        ('{"a.py": 1.5}', "costs.json: 'a.py': 1.5 is not a number of milliseconds"),
        ("[]", "costs.json: not an object of milliseconds by path"),
        ("{", "costs.json: not JSON"),
        (None, "costs.json: No such file or directory"),
    ],
)
def test_costs_that_cannot_be_used_are_one_line(lint, project, text, message):
    if text is not None:
        (project / "costs.json").write_text(text)
    ran = lint("--shard=1/2", "--shard-costs=costs.json", ".")
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: {message}\n")


def test_costs_are_for_parts(lint, project):
    (project / "costs.json").write_text("{}")
    ran = lint("--shard-costs=costs.json", ".")
    assert ran.status == 2
    assert "`--shard-costs` can only be used with `--shard`" in ran.err
