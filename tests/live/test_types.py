"""The public interface has types: mypy knows what a test of a user gets."""

from __future__ import annotations

import subprocess
import sys

SNIPPET = """\
import inplace_lint

with inplace_lint.watch() as seen:
    pass
for finding in seen.findings:
    wrong: int = finding.code
"""


def test_findings_of_a_watch_are_no_any(tmp_path):
    program = tmp_path / "snippet.py"
    program.write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", str(program)]
    ran = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert "snippet.py:6: error: Incompatible types in assignment" in ran.stdout, ran.stdout + ran.stderr
    assert "Found 1 error in 1 file" in ran.stdout
