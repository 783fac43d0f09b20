"""Writes the op tables of torch: `python -m generators.torch_facts OUTDIR`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from generators.torch_facts import functions, hand, inner, modules

AREAS = (
    ("torch.Tensor", "tensor"),
    ("torch.nn.functional", "functional"),
    ("torch._C._nn", "functional"),
    ("torch.nn", "modules"),
    ("torch.special", "special_linalg"),
    ("torch.linalg", "special_linalg"),
    ("torch.fft", "special_linalg"),
    ("torch", "functions"),
)


def main(folder: Path) -> None:
    """Write every table into a folder; files are replaced whole, so that a reader never sees half of one."""
    torch.set_num_threads(1)
    # `torch.manual_seed` keeps the call stack of each call for devices that are not in use: half of the time of a run.
    torch.manual_seed = torch.default_generator.manual_seed
    start = time.perf_counter()
    undecided: list[str] = []
    written = hand.entries()
    owned = {spelling: row for row in written for spelling in (row["op"], *row.get("same", ()))}
    owned |= {name: {} for name in hand.acts()}
    found = [*functions.entries(owned, undecided), *modules.entries(owned, undecided)]
    rows = [*written, *map(hand.with_settled_results, found)]
    guards = (hand.with_inplace, hand.with_padded_saves, hand.with_strided_saves, hand.with_used_saves)
    for guarded in (
        *guards,
        hand.with_kept_views,
        hand.with_reduced_result,
        modules.with_bases,
        inner.with_inner_saves,
    ):
        rows = [guarded(row) for row in rows]
    write(folder, rows)
    for line in sorted(undecided):
        print("undecided", line)
    print(f"{len(rows)} entries in {time.perf_counter() - start:.0f} s")


def write(folder: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows to the file of their area, one a line; forms of one op keep their order."""
    folder.mkdir(parents=True, exist_ok=True)
    areas: dict[str, list[dict[str, Any]]] = {area: [] for _, area in AREAS}
    for row in rows:
        areas[area_of(row["op"])].append(row)
    for area, found in areas.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in sorted(found, key=lambda row: row["op"]))
        partial = folder / f"{area}.jsonl.partial"
        partial.write_text(text, encoding="utf-8")
        partial.replace(folder / f"{area}.jsonl")


def area_of(op: str) -> str:
    """Return the name of the file that holds an op."""
    return next(area for prefix, area in AREAS if op == prefix or op.startswith(prefix + "."))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
