"""The op tables of torch as rows, by file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inplace_lint.knowledge.facts import Rows, tables

FOLDER = Path(__file__).parents[2] / "rules" / "ops" / "torch"
AREAS = ("functional", "functions", "modules", "special_linalg", "tensor")


def rows(area: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{area}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def spelled(framework: str) -> dict[str, Rows]:
    """Give all entries for a framework, those of packs included, by each spelling of their op."""
    facts = tables(framework)
    return {**facts.rows, **{name: rows for pack in facts.packs.values() for name, rows in facts.rows_in(pack).items()}}
