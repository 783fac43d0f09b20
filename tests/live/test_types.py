"""The public interface has types: mypy knows what a test of a user gets."""

from __future__ import annotations

import subprocess
import sys

import inplace_lint
from inplace_lint.core.finding import Finding

SNIPPET = """\
import inplace_lint


def told(finding: inplace_lint.Finding) -> str:
    options: tuple[str, ...] = finding.options
    return f"{finding.span.path}:{finding.span.line} {finding.message} {options}"


with inplace_lint.watch() as seen:
    pass
for finding in seen.findings:
    print(told(finding), finding.severity.value)
    wrong: int = finding.code


@inplace_lint.assert_no_inplace_bugs()
def named(step: int) -> str:
    return str(step)


@inplace_lint.assert_no_inplace_bugs
def counted(step: int) -> str:
    return str(step)


with inplace_lint.assert_no_inplace_bugs() as found:
    names: tuple[str, str] = named(1), counted(2)
more: int = found.findings
"""


def test_the_type_of_a_finding_is_public():
    assert inplace_lint.Finding is Finding


def test_findings_of_a_watch_are_no_any(tmp_path):
    program = tmp_path / "snippet.py"
    program.write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", str(program)]
    ran = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert "snippet.py:13: error: Incompatible types in assignment" in ran.stdout, ran.stdout + ran.stderr
    assert "snippet.py:28: error: Incompatible types in assignment" in ran.stdout
    assert "Found 2 errors in 1 file" in ran.stdout
