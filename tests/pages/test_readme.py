"""What the README shows is what the tool says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from generators import readme_picture, rule_table
from inplace_lint.rules import RULES
from tests.pages.examples import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


SHOWN = re.findall(r"```console\n\$ inplace-lint (\S+)\n(.*?)```", README, re.DOTALL)


def test_it_shows_the_output_of_the_tool_for_both_frameworks() -> None:
    assert {"paddle" in program for program, _ in SHOWN} == {True, False}


@pytest.mark.parametrize(("program", "output"), SHOWN)
def test_what_it_shows_is_what_the_tool_says(program: str, output: str) -> None:
    command = [sys.executable, "-m", "inplace_lint", program, "--no-cache"]
    environment = {**os.environ, "COLUMNS": "120"}
    run = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, env=environment)
    assert run.returncode == 1
    assert run.stdout == output


@pytest.mark.parametrize("picture", readme_picture.PICTURES, ids=lambda picture: picture.path)
def test_the_picture_of_the_terminal_shows_what_the_tool_says(picture: readme_picture.Picture) -> None:
    svg = (ROOT / picture.path).read_text(encoding="utf-8")
    expected = readme_picture.said(picture, "never")
    assert readme_picture.shown(svg) == "\n".join(line.rstrip() for line in expected.splitlines()) + "\n"
    assert "url(http" not in svg  # it loads nothing
    again = readme_picture.drawn(picture)
    assert readme_picture.shown(again) == readme_picture.shown(svg)
    assert readme_picture.colours(again) == readme_picture.colours(svg)


@pytest.mark.parametrize("picture", readme_picture.PICTURES, ids=lambda picture: picture.path)
def test_the_picture_stands_on_the_first_screen_with_a_text_of_what_it_shows(picture: readme_picture.Picture) -> None:
    readme = (ROOT / ("README.zh.md" if "--lang" in picture.words else "README.md")).read_text(encoding="utf-8")
    first_screen = readme[: readme.index("\n## ")]
    described = re.search(rf"!\[([^\]]+)\]\({re.escape(picture.path)}\)", first_screen)
    assert described is not None
    output = readme_picture.said(picture, "never").replace("`", "")
    words = ("IPL101", "nn.ReLU(inplace=True)", "out += identity", "out = out + identity", "--fix")
    assert [word for word in words if word not in described[1] or word not in output] == []


def test_the_table_of_rules_is_what_the_pages_say() -> None:
    assert rule_table.written(README, rule_table.table()) == README


def test_a_page_without_a_word_of_what_it_is_about_is_refused(tmp_path: Path) -> None:
    for rule in RULES:
        (tmp_path / f"{rule.name}.md").write_text(f"# {rule.name} ({rule.code})\n\nharm: silent · x\n\n## What\n")
    with pytest.raises(ValueError, match=r"rules/modified-after-save\.md: the head is not"):
        rule_table.table(tmp_path)
