"""
Writes the tables of rules into docs/rules.md and README.zh.md, from the head of each rule's page.

    python -m generators.rule_table          # writes them
    python -m generators.rule_table --check  # exit 1 if one of the files has another one
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

from inplace_lint.rules import RULES

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- rules: python -m generators.rule_table -->\n", "<!-- end of rules -->\n"
_HEAD = re.compile(
    r"# (?P<name>[a-z-]+) \((?P<code>IPL\d{3})\)\n\n(?:harm: |危害：)(?P<harm>[^·]+) · .*\n\n"
    r"(?:In short: |一句话：)(?P<short>.+)\n"
)


class Language(NamedTuple):
    """The words of a table, the file that it is in, and the folder of its pages as that file links it."""

    file: str
    pages: str
    link: str
    head: str
    unasked: str
    stop: str


ENGLISH = Language("docs/rules.md", "", "../rules/", "| code | name | what happens |", "off by default", "; ")
CHINESE = Language(
    "README.zh.md",
    "zh/",
    "rules/zh/",
    "| 编号 | 名称 | 说明 |",
    "默认关闭",
    "；",
)


def table(folder: Path = ROOT / "rules", language: Language = ENGLISH) -> str:
    """
    Return the table in Markdown, a row a rule, in the order of the codes.

    Raises: ValueError for a page whose head does not say code, name, harm and in short what it is about.
    """
    rows = [language.head, "|---|---|---|"]
    for rule in RULES:
        page = f"{language.pages}{rule.name}.md"
        head = _HEAD.match((folder / page).read_text(encoding="utf-8"))
        if head is None or (head["name"], head["code"]) != (rule.name, rule.code):
            msg = f"rules/{page}: the head is not `# {rule.name} ({rule.code})`, `harm: …`, `In short: …`"
            raise ValueError(msg)
        words = [head["short"], head["harm"].strip(), *([] if rule.default else [language.unasked])]
        rows.append(f"| [{rule.code}]({language.link}{rule.name}.md) | {rule.name} | {language.stop.join(words)} |")
    return "\n".join(rows) + "\n"


def written(text: str, rows: str) -> str:
    """Return a text with the table between its marks."""
    before, _, rest = text.partition(START)
    return f"{before}{START}\n{rows}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write or check the tables, and give the exit status."""
    status = 0
    for language in (ENGLISH, CHINESE):
        place = ROOT / language.file
        readme = place.read_text(encoding="utf-8")
        new = written(readme, table(language=language))
        if "--check" not in sys.argv[1:]:
            place.write_text(new, encoding="utf-8")
        elif new != readme:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
