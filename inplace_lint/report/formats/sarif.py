"""
SARIF 2.1.0, for code scanning: one run, relative URIs, columns in code points.

The message links to the places where a value was saved and where backward needs it, and a code flow lists them in
order: save, write, backward.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from inplace_lint import __version__
from inplace_lint.core.finding import Finding, Fix, Role, Severity
from inplace_lint.core.span import Span
from inplace_lint.report.formats.json_list import confirmed
from inplace_lint.report.model import Report
from inplace_lint.report.paths import fingerprints, uri
from inplace_lint.rules import RULE_OF
from inplace_lint.rules.links import SITE, page_of
from inplace_lint.workspace.notebook import file_of, within

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SENTENCE = re.compile(r".+?(?:\.(?= |$)|。)")
_ORDER = (Role.SAVE, Role.ALIAS, Role.WRITE, Role.BACKWARD)


def render(report: Report) -> str:
    """Return the SARIF log as JSON."""
    rules = {finding.code: finding for finding in report.findings}
    codes = sorted(rules)
    run = {
        "tool": {
            "driver": {
                "name": "inplace-lint",
                "version": __version__,
                "semanticVersion": __version__,
                "informationUri": SITE,
                "rules": [_rule(rules[code], report) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "the folder that the tool was run in"}}},
        "results": [
            _result(finding, key, codes.index(finding.code), report.say(".")) for finding, key in fingerprints(report)
        ],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(finding: Finding, report: Report) -> dict[str, Any]:
    rule, address = RULE_OF.get(finding.code), report.page_of(finding)  # there is none for a plugin that is not here
    text = f"# {finding.name}\n" if rule is None else page_of(rule, report.lang).read_text(encoding="utf-8")
    does = (text.split("\n## ", 2)[1:2] or [""])[0]
    short = " ".join(does.partition("\n")[2].split()) or finding.name
    first = _SENTENCE.match(short)
    return {
        "id": finding.code,
        "name": finding.name,
        "shortDescription": {"text": first[0] if first is not None else f"{short}."},
        "fullDescription": {"text": short},
        "help": {"text": short, "markdown": text},
        **({"helpUri": address} if address else {}),
        "defaultConfiguration": {"level": _LEVELS[finding.severity if rule is None else rule.harm.severity]},
        "properties": {"tags": [finding.framework] if finding.framework else []},
    }


def _result(finding: Finding, fingerprint: str, index: int, stop: str) -> dict[str, Any]:
    related = [
        {"id": number, **_location(item.span, item.message)} for number, item in enumerate(finding.related, start=1)
    ]
    links = "".join(
        f" [{_plain(item.message)}]({number}){stop}" for number, item in enumerate(finding.related, start=1)
    )
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{within(finding.span)}{_plain(finding.message)}{stop}{links}"},
        "locations": [_location(finding.span)],
        "partialFingerprints": {"inplaceLint/v1": fingerprint},
        "properties": _properties(finding),
    }
    if related:
        result["relatedLocations"] = related
        result["codeFlows"] = [{"threadFlows": [{"locations": _flow(finding)}]}]
    if finding.fix is not None and all(edit.span.cell is None for edit in finding.fix.edits):
        result["fixes"] = [_fix(finding.fix)]
    return result


def _fix(fix: Fix) -> dict[str, Any]:
    """Return a fix as one change for each file."""
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        place = _location(edit.span)["physicalLocation"]
        inserted = {"insertedContent": {"text": edit.content}} if edit.content else {}
        changes.setdefault(place["artifactLocation"]["uri"], []).append({"deletedRegion": place["region"], **inserted})
    return {
        "description": {"text": _plain(fix.message)},
        "artifactChanges": [
            {"artifactLocation": {"uri": path, "uriBaseId": "SRCROOT"}, "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }


def _properties(finding: Finding) -> dict[str, Any]:
    found: dict[str, Any] = {"certainty": finding.certainty.value, "assumptions": list(finding.assumptions)}
    found |= {"options": list(finding.options)} if finding.options else {}
    return found if finding.verdict is None else {**found, "confirmed": confirmed(finding)}


def _flow(finding: Finding) -> Sequence[dict[str, Any]]:
    """Return the save, the write and the backward, in the order in which they run."""
    steps = [(item.role, item.span, item.message) for item in finding.related]
    if all(role is not Role.WRITE for role, _, _ in steps):
        steps.append((Role.WRITE, finding.span, finding.label))
    steps.sort(key=lambda step: _ORDER.index(step[0]))
    return [{"location": _location(span, message)} for _, span, message in steps]


def _location(span: Span, message: str = "") -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": uri(file_of(span)), "uriBaseId": "SRCROOT"},
            "region": {
                "startLine": span.line,
                "startColumn": span.column + 1,
                "endLine": span.end_line,
                "endColumn": span.end_column + 1,
            },
        }
    }
    if span.cell is not None:  # lines and columns are those of the cell
        location["logicalLocations"] = [{"name": within(span)[:-2], "fullyQualifiedName": span.path}]
    return {**location, "message": {"text": within(span) + message}} if message else location


def _plain(text: str) -> str:
    """Return a text with the characters escaped that make a link in SARIF."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
