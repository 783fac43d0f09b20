"""The formats that other programs read, parsed as these would."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from inplace_lint.core.finding import Severity
from inplace_lint.report.reporters import REPORTERS

PLACES = {"startLine": 9, "startColumn": 9, "endLine": 9, "endColumn": 18}


@pytest.fixture
def render(report, resnet_source):
    return lambda name, *findings: REPORTERS[name](report(resnet_source, *findings))


def test_grouped_puts_the_file_first(render, resnet):
    assert render("grouped", resnet).splitlines() == [
        "model.py:",
        "  9:9 error IPL101 `x` is overwritten, but backward of `relu` needs its old value",
        "",
    ]


def test_pylint_has_path_line_and_code(render, resnet):
    assert re.fullmatch(r"model\.py:9: \[IPL101\] `x` is overwritten.*\n", render("pylint", resnet))


def test_json_lines_are_the_rows_of_json(render, resnet):
    rows = [json.loads(line) for line in render("json-lines", resnet).splitlines()]
    assert rows == json.loads(render("json", resnet))


def test_azure_escapes_what_would_end_a_command(render, resnet):
    odd = replace(resnet, message="a]b;c%d\ne", severity=Severity.INFO)
    (line,) = render("azure", odd).splitlines()
    head, _, text = line.partition(";]")
    assert head.startswith("##vso[task.logissue type=warning;")
    assert head.endswith("sourcepath=model.py;linenumber=9;columnnumber=9;code=IPL101")
    assert text == "a%5Db%3Bc%AZP25d%0Ae"


def test_junit_is_xml_with_a_case_a_finding(render, resnet):
    odd = replace(resnet, message="a < b & \x00")
    root = ET.fromstring(render("junit", resnet, odd))
    assert (root.get("tests"), root.get("failures")) == ("2", "2")
    assert [failure.get("message") for failure in root.iter("failure")] == [resnet.message, "a < b & ?"]


def test_junit_without_findings_has_a_case_that_passed(render):
    root = ET.fromstring(render("junit"))
    assert root.get("failures") == "0"
    assert len(list(root.iter("testcase"))) == 1
    assert not list(root.iter("failure"))


def test_gitlab_tells_alike_findings_apart_but_not_by_line(render, resnet):
    first, second = json.loads(render("gitlab", resnet, resnet))
    assert first["fingerprint"] != second["fingerprint"]
    assert first["severity"] == "major"
    assert first["location"] == {
        "path": "model.py",
        "positions": {"begin": {"line": 9, "column": 9}, "end": {"line": 9, "column": 18}},
    }


def test_a_fingerprint_survives_moved_lines(report, resnet, resnet_source):
    moved = replace(resnet, span=replace(resnet.span, line=resnet.span.line + 1, end_line=resnet.span.end_line + 1))
    before = json.loads(REPORTERS["gitlab"](report(resnet_source, resnet)))
    after = json.loads(REPORTERS["gitlab"](report("\n" + resnet_source, moved)))
    assert before[0]["fingerprint"] == after[0]["fingerprint"]


def test_rdjson_names_the_rule_and_the_save(render, resnet):
    (row,) = json.loads(render("rdjson", resnet))["diagnostics"]
    assert (row["severity"], row["code"]["value"]) == ("ERROR", "IPL101")
    assert row["location"]["range"] == {"start": {"line": 9, "column": 9}, "end": {"line": 9, "column": 18}}
    assert row["related_locations"][0]["location"]["range"]["start"] == {"line": 6, "column": 13}


def test_sarif_links_the_save_and_shows_the_way_from_it_to_the_write(render, resnet):
    log = json.loads(render("sarif", resnet))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "IPL101"
    assert rule["helpUri"] == "https://inplace-lint.github.io/inplace-lint/rules/modified-after-save/"
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert run["tool"]["driver"]["informationUri"] == "https://inplace-lint.github.io/inplace-lint"
    assert rule["help"]["markdown"].startswith("# modified-after-save (IPL101)")
    (result,) = run["results"]
    assert (result["ruleIndex"], result["level"]) == (0, "error")
    assert result["locations"][0]["physicalLocation"]["region"] == PLACES
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "model.py"
    assert result["message"]["text"].endswith("[saved here: relu keeps its output for backward](1).")
    assert [item["id"] for item in result["relatedLocations"]] == [1]
    (flow,) = result["codeFlows"][0]["threadFlows"]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow["locations"]]
    assert lines == [6, 9]
    assert result["partialFingerprints"]["inplaceLint/v1"]


def test_sarif_escapes_brackets_and_paths(render, resnet):
    odd = replace(resnet, message="`x[...]` is overwritten", span=replace(resnet.span, path="a b/#1.py"))
    (result,) = json.loads(render("sarif", odd))["runs"][0]["results"]
    assert result["message"]["text"].startswith("`x\\[...\\]` is overwritten.")
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/%231.py"


def test_sarif_without_findings_has_a_run_without_results(render):
    (run,) = json.loads(render("sarif"))["runs"]
    assert run["results"] == []
