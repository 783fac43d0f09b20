"""The Chinese README shows what the tool says, and nothing that the English documentation does not have."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from generators import rule_table
from tests.pages.examples import ROOT

ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))
CHINESE = (ROOT / "README.zh.md").read_text(encoding="utf-8")


def commands(text: str) -> set[str]:
    """Give the command lines of a README without their comments and without `--lang zh`."""
    lines = re.findall(
        r"^    ([a-z].*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    return {line.partition(" # ")[0].replace(" --lang zh", "").strip() for line in lines}


SHOWN = re.findall(r"```console\n\$ inplace-lint (\S+) --lang zh\n(.*?)```", CHINESE, re.DOTALL)


def test_it_shows_what_the_english_readme_shows() -> None:
    assert [program for program, _ in SHOWN] == re.findall(r"```console\n\$ inplace-lint (\S+)\n", ENGLISH + PAGES)


@pytest.mark.parametrize(("program", "output"), SHOWN)
def test_what_it_shows_is_what_the_tool_says(program: str, output: str) -> None:
    command = [sys.executable, "-m", "inplace_lint", program, "--lang", "zh", "--no-cache"]
    environment = {**os.environ, "COLUMNS": "120", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, env=environment)
    assert (run.returncode, run.stdout.decode()) == (1, output)


def test_the_table_of_rules_is_what_the_pages_say() -> None:
    assert rule_table.written(CHINESE, rule_table.table(language=rule_table.CHINESE)) == CHINESE


def test_commands_and_files_are_those_of_the_english_readme() -> None:
    blocks = re.findall(r"^```(?:yaml|toml|text)$.*?^```$", CHINESE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    assert [block for block in blocks if block not in ENGLISH + PAGES] == []
    assert commands(CHINESE) <= commands(ENGLISH + PAGES)


def test_links_lead_somewhere_and_the_readmes_name_each_other() -> None:
    for text in (ENGLISH, CHINESE):
        targets = [target for target in re.findall(r"\]\(([^):]+)\)", text) if target]
        assert [target for target in targets if not (ROOT / target).exists()] == []
    assert "](README.zh.md)" in ENGLISH[: ENGLISH.index("```")]
    assert "](README.md)" in CHINESE
