"""
Writes packs: `python -m generators.pack_facts rules/ops/libs [NAME…]`; all of them without a name.

A pack whose library cannot be imported here is left as it is, and named.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path

from generators.pack_facts.seen import Disagreement, entry
from inplace_lint.knowledge.packs import packs

_RUN = re.compile(r"(?<!not )\brun\b")
_LINES = Path(__file__).parent


def main(folder: Path, names: list[str]) -> int:
    """Write the packs of these names; return 1 if one of them could not be made."""
    warnings.simplefilter("ignore")
    failed = 0
    for name in names or sorted(packs()):
        lines = (_LINES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        try:
            rows = [entry(json.loads(line), packs()[name].distribution) for line in lines if line.strip()]
        except (Disagreement, ImportError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = 1
            continue
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
        print(f"{name}: {len(rows)} entries")
    return failed


def table() -> list[str]:
    """Return the lines of a table of all packs, for the documentation."""
    rows = ["| pack | imported as | release | calls | run | read |", "|---|---|---|---|---|---|"]
    for pack in packs().values():
        entries = [json.loads(line) for line in pack.path.read_text(encoding="utf-8").splitlines()]
        ran = sum(_RUN.search(entry["source"]) is not None for entry in entries)
        packages = ", ".join(f"`{package}`" for package in pack.packages)
        rows.append(f"| {pack.name} | {packages} | {pack.release} | {len(entries)} | {ran} | {len(entries) - ran} |")
    return rows


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
