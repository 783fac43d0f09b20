from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import replace

from inplace_lint.config.pins import tomllib
from inplace_lint.config.schema import FORMATS
from inplace_lint.core.finding import Severity
from inplace_lint.core.span import Span
from inplace_lint.report.formats import concise, github, json_list
from inplace_lint.report.reporters import REPORTERS
from inplace_lint.report.summary import Counts, statistics, summary
from inplace_lint.rules.links import REPOSITORY, SITE, rule_url

RUFFS_KEYS = ["cell", "code", "name", "message", "severity", "filename", "location", "end_location", "fix"]
RUFFS_KEYS += ["noqa_row", "url"]
OUR_KEYS = ["framework", "related", "certainty", "assumptions", "options", "confirmed", "label", "function"]


def test_every_format_that_can_be_asked_for_has_a_reporter():
    assert set(REPORTERS) == set(FORMATS)


def test_concise_is_one_line_a_finding(resnet, report, resnet_source):
    assert concise.render(report(resnet_source, resnet)) == (
        "model.py:9:9: error[IPL101] `x` is overwritten, but backward of `relu` needs its old value\n"
    )


def test_json_has_the_keys_of_ruff_then_ours(resnet, report, resnet_source):
    (row,) = json.loads(json_list.render(report(resnet_source, resnet, statements={resnet.span: (9, 11)})))
    assert list(row) == RUFFS_KEYS + OUR_KEYS
    assert row == {
        "cell": None,
        "code": "IPL101",
        "name": "modified-after-save",
        "message": "`x` is overwritten, but backward of `relu` needs its old value",
        "severity": "error",
        "filename": str(Path.cwd() / "model.py"),
        "location": {"row": 9, "column": 9},
        "end_location": {"row": 9, "column": 18},
        "fix": {"applicability": "display", "message": "use `x = x + feat`", "edits": []},
        "noqa_row": 11,
        "url": "https://inplace-lint.github.io/inplace-lint/rules/modified-after-save/",
        "framework": "torch",
        "related": [
            {
                "role": "save",
                "message": "saved here: relu keeps its output for backward",
                "cell": None,
                "filename": str(Path.cwd() / "model.py"),
                "location": {"row": 6, "column": 13},
                "end_location": {"row": 6, "column": 34},
            }
        ],
        "certainty": "always",
        "assumptions": list(resnet.assumptions),
        "options": [],
        "confirmed": None,
        "label": resnet.label,
        "function": resnet.function,
    }


def test_json_without_findings_is_an_empty_list(report):
    assert json.loads(json_list.render(report(""))) == []


def test_json_without_a_cure_has_no_fix(bare, report):
    finding = bare(Span("a.py", 1, 0, 1, 1), message="m")
    assert json.loads(json_list.render(report("x", finding)))[0]["fix"] is None


def test_github_escapes_what_its_commands_are_made_of(bare, report):
    finding = bare(Span("a,b:c%.py", 3, 1, 3, 2), message="50 % off: `x`\nand, so on")
    assert github.render(report("", finding)) == (
        "::error title=inplace-lint (IPL101),file=a%2Cb%3Ac%25.py,line=3,col=2,endLine=3,endColumn=3::"
        "a,b:c%25.py:3:2: IPL101 modified-after-save: 50 %25 off: `x`%0Aand, so on%0A"
        "https://inplace-lint.github.io/inplace-lint/rules/modified-after-save/\n"
    )


def test_a_github_annotation_names_the_save_and_the_cure(resnet, report, resnet_source):
    text = github.render(report(resnet_source, replace(resnet, assumptions=("`x` requires grad",))))
    assert text.rstrip().split("%0A")[1:] == [
        "model.py:6: saved here: relu keeps its output for backward",
        "help: use `x = x + feat`",
        "assuming: `x` requires grad",
        rule_url("IPL101"),
    ]


def test_json_says_what_a_finding_assumes(resnet, report, resnet_source):
    finding = replace(resnet, assumptions=("`x` requires grad",))
    assert json.loads(json_list.render(report(resnet_source, finding)))[0]["assumptions"] == ["`x` requires grad"]


def test_the_address_of_the_documentation_is_that_of_the_package():
    urls = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert (urls["Documentation"], urls["Source"]) == (f"{SITE}/", REPOSITORY)


def test_github_shows_the_worst_first_and_counts_what_it_hides(bare, report):
    warnings = [bare(Span("a.py", line, 0, line, 1), severity=Severity.WARNING) for line in range(1, 13)]
    errors = [bare(Span("b.py", line, 0, line, 1)) for line in range(1, 12)]
    info = bare(Span("a.py", 1, 0, 1, 1), severity=Severity.INFO)
    lines = github.render(report("", info, *warnings, *errors)).splitlines()
    assert [line.split(" ")[0] for line in lines[:24]] == ["::error"] * 11 + ["::warning"] * 12 + ["::notice"]
    assert lines[24:] == [
        "inplace-lint: 1 more error above that GitHub does not show as annotations",
        "inplace-lint: 2 more warnings above that GitHub does not show as annotations",
    ]


def test_the_page_of_a_github_job_has_every_finding_worst_first(bare, report):
    warning = bare(Span("a.py", 1, 0, 1, 1), severity=Severity.WARNING, message="`x | y` is overwritten")
    text = github.job_summary(report("", warning, *[bare(Span("b.py", line, 0, line, 1)) for line in range(1, 13)]))
    assert text.split("\n")[4] == "| `b.py:1` | error | IPL101 | `x` is overwritten |"
    assert text.split("\n")[16:] == ["| `a.py:1` | warning | IPL101 | `x &#124; y` is overwritten |", ""]


def test_the_summary_counts_by_severity_and_file(bare):
    spans = [Span("a.py", 1, 0, 1, 1), Span("a.py", 2, 0, 2, 1), Span("b.py", 1, 0, 1, 1), Span("c.py", 1, 0, 1, 1)]
    kinds = [Severity.ERROR, Severity.ERROR, Severity.WARNING, Severity.INFO]
    findings = [bare(span, severity=kind) for span, kind in zip(spans, kinds, strict=True)]
    assert summary(findings[:1], Counts(0), color=False) == "Found 1 error in 1 file."
    assert summary(findings[:3], Counts(0), color=False) == "Found 2 errors and 1 warning in 2 files."
    assert summary(findings, Counts(0), color=False) == "Found 2 errors, 1 warning and 1 info in 3 files."


def test_the_summary_says_passed_only_when_every_file_was_checked(bare):
    assert summary([], Counts(0), color=False) == "All checks passed!"
    assert summary([], Counts(2), color=False) == "Found nothing, but 2 files could not be checked."
    finding = bare(Span("a.py", 1, 0, 1, 1))
    assert summary([finding], Counts(1), color=False) == "Found 1 error in 1 file; 1 file could not be checked."


def test_statistics_tell_rules_shares_and_the_commonest_unknown_calls(bare):
    findings = [bare(Span("a.py", line, 0, line, 1)) for line in range(1, 11)]
    findings.append(bare(Span("a.py", 1, 0, 1, 1), code="IPL201", name="leaf-write"))
    counters = {
        "files": 7,
        "files_with_framework": 5,
        "functions_that_write": 8,
        "functions_reached_uncut": 6,
        "roots": 4,
        "roots_cut_by_steps": 1,
        "roots_cut_by_paths": 0,
        "framework_calls": 20,
        "framework_calls_with_fact": 19,
        "calls_without_fact:torch.foo": 1,
        "calls_without_fact:torch.bar": 12,
        "calls_without_fact:torch.zero": 0,
    }
    assert statistics(findings, counters, {"parse": 0.25, "lower": 1.5}) == (
        """\
10  IPL101  modified-after-save
 1  IPL201  leaf-write

files: 7, of which mention a framework: 5
functions with writes, analyzed completely: 6 of 8 (75.0 %)
entry points: 4, cut short by steps: 1
known framework calls: 19 of 20 (95.0 %)

the most frequent unknown calls:
  12  torch.bar
   1  torch.foo

seconds by stage, summed over all processes:
     1.500  lower
     0.250  parse
"""
    )
