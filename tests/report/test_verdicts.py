"""The verdict of `--confirm` stands in every format."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from inplace_lint.core.finding import Proof, Verdict
from inplace_lint.report.model import Report
from inplace_lint.report.reporters import REPORTERS
from inplace_lint.report.summary import Counts, summary

LINE = "confirmed on torch 2.13.0 (cpu): raised in backward, by `Net()`"


@pytest.fixture
def proved(resnet):
    return replace(resnet, verdict=Verdict(Proof.CONFIRMED, "torch", "2.13.0", "cpu", "raised in backward, by `Net()`"))


def rendered(name: str, finding) -> str:
    return REPORTERS[name](Report([finding], lambda _path: ()))


@pytest.mark.parametrize("name", ["concise", "grouped", "github", "gitlab", "junit", "azure", "rdjson", "pylint"])
def test_it_is_part_of_the_text_of_a_line(proved, name):
    assert LINE in rendered(name, proved).replace("%5D", "]")


def test_it_is_a_note_of_the_full_format(proved):
    assert f"= {LINE}" in rendered("full", proved)


@pytest.mark.parametrize("name", ["json", "json-lines"])
def test_it_is_an_object_in_json(proved, name):
    row = json.loads(rendered(name, proved))
    row = row[0] if isinstance(row, list) else row
    assert row["confirmed"] == {
        "verdict": "confirmed",
        "device": "cpu",
        "version": "2.13.0",
        "reason": "raised in backward, by `Net()`",
    }


def test_it_is_a_property_in_sarif(proved):
    result = json.loads(rendered("sarif", proved))["runs"][0]["results"][0]
    assert result["properties"]["confirmed"]["verdict"] == "confirmed"
    assert "confirmed" not in result["message"]["text"]


def test_the_summary_counts_verdicts(proved, resnet):
    assert summary([proved, proved], Counts(), color=False) == "Found 2 errors in 1 file. Of these, 2 confirmed."
    assert summary([resnet], Counts(), color=False) == "Found 1 error in 1 file."


def test_without_a_framework_it_names_none(resnet):
    verdict = Verdict(Proof.COULD_NOT_RUN, "torch", "", "cpu", "torch is not installed in /usr/bin/python")
    assert f"= could not run: {verdict.reason}" in rendered("full", replace(resnet, verdict=verdict))


@pytest.mark.parametrize("name", sorted(set(REPORTERS) - {"json", "json-lines"}))
def test_without_confirm_no_format_speaks_of_it(resnet, name):
    assert "confirmed" not in rendered(name, resnet)
