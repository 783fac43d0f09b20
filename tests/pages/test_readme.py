"""What the README and the documentation show is what the tool says."""

from __future__ import annotations

import os
import re
import sys
from html import unescape
from pathlib import Path

import pytest
from rich.cells import cell_len

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from generators import readme_picture, rule_table
from inplace_lint.config.schema import KEYS
from inplace_lint.rules import RULES
from inplace_lint.rules.links import REPOSITORY
from tests.cli import forked
from tests.pages.examples import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
MOST_WORDS = 1_200


SHOWN = re.findall(r"```console\n\$ inplace-lint (\S+)\n(.*?)```", "\n".join((README, *DOCS.values())), re.DOTALL)


def test_it_shows_the_output_of_the_tool_for_both_frameworks() -> None:
    assert {"paddle" in program for program, _ in SHOWN} == {True, False}


@pytest.mark.parametrize(("program", "output"), SHOWN)
def test_what_it_shows_is_what_the_tool_says(program: str, output: str) -> None:
    run = forked.run([program, "--no-cache"], ROOT, {**forked.usual_environment(), "COLUMNS": "120"})
    assert (run.status, run.out) == (1, output)


def said(picture: readme_picture.Picture) -> str:
    """Return what the tool prints without colours, with the command before it; a drawn picture asks it by itself."""
    environment = {**forked.usual_environment(), "COLUMNS": str(readme_picture.WIDTH)}
    run = forked.run([*picture.words, "--no-cache", "--color", "never"], ROOT / picture.folder, environment)
    assert run.status == 1
    return f"$ {picture.title}\n{run.out}"


@pytest.mark.parametrize("picture", readme_picture.PICTURES, ids=lambda picture: picture.path)
def test_the_picture_of_the_terminal_shows_what_the_tool_says(picture: readme_picture.Picture) -> None:
    svg = (ROOT / picture.path).read_text(encoding="utf-8")
    expected = said(picture)
    assert readme_picture.shown(svg) == "\n".join(line.rstrip() for line in expected.splitlines()) + "\n"
    assert "url(http" not in svg  # it loads nothing
    again = readme_picture.drawn(picture)
    assert readme_picture.shown(again) == readme_picture.shown(svg)
    assert readme_picture.colours(again) == readme_picture.colours(svg)


@pytest.mark.parametrize("picture", readme_picture.PICTURES, ids=lambda picture: picture.path)
def test_characters_of_a_picture_do_not_overlap(picture: readme_picture.Picture) -> None:
    texts = re.findall(r'textLength="([\d.]+)"[^>]*>([^<]*)</text>', (ROOT / picture.path).read_text(encoding="utf-8"))
    assert len(texts) > 10
    for length, text in texts:
        assert float(length) == pytest.approx(
            cell_len(unescape(text).rstrip("\n") or " ") * readme_picture.CELL, abs=0.1
        )


@pytest.mark.parametrize("picture", readme_picture.PICTURES, ids=lambda picture: picture.path)
def test_the_page_with_the_picture_has_a_text_of_what_it_shows(picture: readme_picture.Picture) -> None:
    page = ROOT / picture.page
    link = os.path.relpath(ROOT / picture.path, page.parent)
    described = re.search(rf"!\[([^\]]+)\]\({re.escape(link)}\)", page.read_text(encoding="utf-8"))
    assert described is not None
    output = said(picture).replace("`", "")
    words = re.findall(r"IPL\d+|[\w.]+\([\w=]+\)|\w+ \W?= \w[\w.]*\b(?: \W \w[\w.]*\b)?|--\w+", described[1])
    assert len(words) >= 4
    assert [word for word in words if word not in output] == []


def test_the_picture_of_the_readme_is_on_its_first_screen() -> None:
    assert "](fixtures/residual_net.svg)" in README[: README.index("\n## ")]


@pytest.mark.parametrize("page", ["docs/start.md", "docs/zh/start.md"])
def test_the_first_steps_are_about_the_program_of_their_picture(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    program = (ROOT / "fixtures" / "gate.py").read_text(encoding="utf-8")
    assert f"```python\n{program}```" in text
    run = forked.run(["gate.py", "--diff", "--no-cache"], ROOT / "fixtures", forked.usual_environment())
    assert "```diff\n" + re.sub(r"^ $", "", run.out, flags=re.MULTILINE) + "```" in text


def test_the_table_of_rules_is_what_the_pages_say() -> None:
    assert rule_table.written(DOCS["rules.md"], rule_table.table()) == DOCS["rules.md"]


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= MOST_WORDS


def test_links_of_the_documentation_lead_somewhere() -> None:
    for name, text in DOCS.items():
        targets = re.findall(r"\]\((?!http)([^):#]+)", text)
        assert [target for target in targets if not (ROOT / "docs" / target).exists()] == [], name


def test_a_package_index_shows_the_readme_with_whole_addresses() -> None:
    hook = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["metadata"]["hooks"]
    text = (ROOT / "README.md").read_text()
    for one in hook["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    prefix = re.compile(re.escape(REPOSITORY) + "/(blob|raw)/main/")
    own = [ROOT / prefix.sub("", link).partition("#")[0] for link in links if prefix.match(link)]
    assert own
    assert [path for path in own if not path.exists()] == []


def test_each_page_of_the_documentation_can_be_reached_from_the_readme() -> None:
    assert [name for name in DOCS if f"(docs/{name})" not in README] == []


def test_a_page_without_a_word_of_what_it_is_about_is_refused(tmp_path: Path) -> None:
    for rule in RULES:
        (tmp_path / f"{rule.name}.md").write_text(f"# {rule.name} ({rule.code})\n\nharm: silent · x\n\n## What\n")
    with pytest.raises(ValueError, match=r"rules/modified-after-save\.md: the head is not"):
        rule_table.table(tmp_path)


def test_the_documentation_names_every_key_of_the_configuration_and_every_input_of_the_action() -> None:
    assert [key for key in KEYS if f"`{key}`" not in DOCS["configuration.md"]] == []
    inputs = re.findall(r"^  ([a-z-]+):$", (ROOT / "action.yml").read_text().partition("\noutputs:")[0], re.MULTILINE)
    assert len(inputs) > 5
    assert [name for name in inputs if f"`{name}`" not in DOCS["integrations.md"]] == []
