"""The op tables of torch as rows, by file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "rules" / "ops" / "torch"
AREAS = ("functional", "functions", "modules", "special_linalg", "tensor")


def rows(area: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{area}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
