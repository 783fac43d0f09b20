"""What the README shows is what the tool says."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from inplace_lint.rules import RULES
from tests.pages.examples import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_screen_shows_the_output_of_the_tool() -> None:
    shown = re.search(r"```console\n\$ inplace-lint (\S+)\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    command = [sys.executable, "-m", "inplace_lint", shown[1], "--no-cache"]
    environment = {**os.environ, "COLUMNS": "120"}
    run = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, env=environment)
    assert run.returncode == 1
    assert run.stdout == shown[2]


def test_the_table_names_each_rule_once_with_its_page() -> None:
    rows = re.findall(r"^\| \[(IPL\d{3})\]\(rules/([a-z-]+)\.md\) \| ([a-z-]+) \|", README, re.MULTILINE)
    assert [(code, page, name) for code, page, name in rows] == [(rule.code, rule.name, rule.name) for rule in RULES]
