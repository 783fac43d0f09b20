"""
Writes the table of rules into README.md, from the head of each rule's page.

    python -m generators.rule_table          # writes it
    python -m generators.rule_table --check  # exit 1 if README.md has another one
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from inplace_lint.rules import RULES

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- rules: python -m generators.rule_table -->\n", "<!-- end of rules -->\n"
_HEAD = re.compile(
    r"# (?P<name>[a-z-]+) \((?P<code>IPL\d{3})\)\n\nharm: (?P<harm>[^·]+) · .*\n\nIn short: (?P<short>.+)\n"
)


def table(folder: Path = ROOT / "rules") -> str:
    """
    Give the table in Markdown, a row a rule, in the order of the codes.

    Raises: ValueError for a page whose head does not say code, name, harm and in short what it is about.
    """
    rows = ["| code | name | what happens |", "|---|---|---|"]
    for rule in RULES:
        head = _HEAD.match((folder / f"{rule.name}.md").read_text(encoding="utf-8"))
        if head is None or (head["name"], head["code"]) != (rule.name, rule.code):
            msg = f"rules/{rule.name}.md: the head is not `# {rule.name} ({rule.code})`, `harm: …`, `In short: …`"
            raise ValueError(msg)
        unasked = "" if rule.default else "; off by default"
        harm = head["harm"].strip()
        rows.append(f"| [{rule.code}](rules/{rule.name}.md) | {rule.name} | {head['short']}; {harm}{unasked} |")
    return "\n".join(rows) + "\n"


def written(readme: str, rows: str) -> str:
    """Give a README with the table between its marks."""
    before, _, rest = readme.partition(START)
    return f"{before}{START}\n{rows}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write or check the table, and give the exit status."""
    place = ROOT / "README.md"
    readme = place.read_text(encoding="utf-8")
    new = written(readme, table())
    if "--check" in sys.argv[1:]:
        return int(new != readme)
    place.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
