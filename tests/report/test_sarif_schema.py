"""Logs that the program writes, held against the official schema of SARIF 2.1.0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from jsonschema import Draft4Validator
from msgspec.structs import replace

from inplace_lint.core.finding import Proof, Verdict
from inplace_lint.report.reporters import REPORTERS

HERE = Path(__file__).resolve().parent
SCHEMA = json.loads((HERE / "schemas/sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
BUGGY = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
{write}  # [brackets], "quotes" and größe
y.sum().backward()
x.data.add_(1)
x += 1
x = x * 2  # noqa: IPL101
"""
CELLS = {"cells": [{"cell_type": "code", "source": BUGGY.format(write="y[0] = 0"), "metadata": {}, "outputs": []}]}


def wrong(log: object) -> list[str]:
    return [f"{error.json_path}: {error.message[:200]}" for error in Draft4Validator(SCHEMA).iter_errors(log)]


@pytest.fixture
def render(report, resnet_source):
    return lambda name, *findings: REPORTERS[name](report(resnet_source, *findings))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Give a folder with faults of many kinds: with fixes of one and of several edits, without, and in a notebook."""
    tree = tmp_path_factory.mktemp("tree")
    (tree / "pyproject.toml").write_text("")
    (tree / "a b#ö.py").write_text(BUGGY.format(write="y += 1"), encoding="utf-8")
    (tree / "torn.py").write_text("import torch\ndef f(:\n")
    (tree / "book.ipynb").write_text(json.dumps({**CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return tree


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_log_of_many_kinds_of_findings_is_valid(tree, lang):
    words = ("--output-format=sarif", "--no-cache", "--extend-select=ALL", "--lang", lang, ".")
    ran = subprocess.run(
        [sys.executable, "-m", "inplace_lint", "check", *words],
        cwd=tree,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1]), "PYTHONIOENCODING": "utf-8"},
    )
    log = json.loads(ran.stdout)
    results = log["runs"][0]["results"]
    assert wrong(log) == []
    assert {"IPL101", "IPL201", "IPL901", "IPL902"} <= {result["ruleId"] for result in results}
    parts = Counter(part for result in results for part in result)
    assert all(parts[part] for part in ("fixes", "relatedLocations", "codeFlows", "partialFingerprints"))


def test_an_empty_log_is_valid(render):
    assert wrong(json.loads(render("sarif"))) == []


def test_a_log_with_a_verdict_is_valid(render, resnet):
    verdict = Verdict(Proof.CONFIRMED, "torch", "2.13.0", "cpu", "raised in backward, by `Net()`")
    assert wrong(json.loads(render("sarif", replace(resnet, verdict=verdict)))) == []


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("level", "fatal", "is not one of"),
        ("place", "here", "Additional properties"),
        ("ruleIndex", "1", "is not of type"),
    ],
)
def test_the_schema_refuses_what_is_no_sarif(render, resnet, key, value, complaint):
    log = json.loads(render("sarif", resnet))
    log["runs"][0]["results"][0][key] = value
    assert any(complaint in line for line in wrong(log))
