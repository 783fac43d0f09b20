"""JUnit XML, which most systems that run tests can show: a file is a suite, a finding a failed case."""

from __future__ import annotations

import re
from itertools import groupby

from inplace_lint.report.model import Report
from inplace_lint.report.paths import relative

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """Return the suites; one passed case when nothing was found."""
    from xml.etree import ElementTree as ET  # noqa: PLC0415 - the start of a run does without

    count = len(report.findings)
    root = ET.Element("testsuites", name="inplace-lint", tests=str(max(count, 1)), failures=str(count), errors="0")
    if not count:
        suite = ET.SubElement(root, "testsuite", name="inplace-lint", tests="1", failures="0", errors="0")
        ET.SubElement(suite, "testcase", name=report.say("all checks passed"), classname="inplace-lint")
    for path, group in groupby(report.findings, key=lambda finding: finding.span.path):
        findings = list(group)
        name = _clean(relative(path))
        suite = ET.SubElement(
            root, "testsuite", name=name, tests=str(len(findings)), failures=str(len(findings)), errors="0"
        )
        for one in findings:
            case = ET.SubElement(
                suite,
                "testcase",
                name=f"{one.code} {one.name}",
                classname=name.removesuffix(".py"),
                line=str(one.span.line),
                column=str(one.span.column + 1),
            )
            failure = ET.SubElement(case, "failure", message=_clean(one.message), type=one.severity.value)
            failure.text = _clean(report.say(f"line {one.span.line}, column {one.span.column + 1}: ") + one.sentence)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _clean(text: str) -> str:
    """Return a text without the characters that XML 1.0 cannot represent."""
    return _FORBIDDEN.sub("?", text)
