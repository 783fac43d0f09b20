"""
Which of the labelled mutants make the benchmark: `python -m benchmarks.mutants.choose RUNS`.

A mutant that several models ran has the worst of its labels. Of each library as many as `_MOST` says are taken of each
label, so that files and kinds of edits take turns. The libraries of a framework belong to the halves in turns.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.mutants.models import MODELS

_WORST = ("raises", "silent", "side-effect", "equal")
_MOST = {"torch": {"raises": 14, "silent": 4, "equal": 8}, "paddle": {"raises": 20, "silent": 4, "equal": 10}}
Row = dict[str, Any]


def main() -> None:
    """Write the chosen mutants beside this file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", type=Path)
    chosen = parser.parse_args()
    rows = list(merged([json.loads(line) for line in chosen.runs.read_text(encoding="utf-8").splitlines()]))
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["library"], row["label"]].append(row)
    out = []
    for (library, label), group in sorted(groups.items()):
        most = _MOST[framework(library)].get(label, 0)
        out += [{**row, "framework": framework(library), "half": half(library)} for row in varied(group)[:most]]
    out.sort(key=lambda row: (row["framework"], row["library"], row["path"], row["line"], row["column"], row["kind"]))
    labels = Path(__file__).with_name("labels.jsonl")
    labels.write_text("".join(json.dumps(row) + "\n" for row in out), encoding="utf-8")


def merged(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield one row for each mutant, without the model it ran in."""
    mutants: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row["label"] in _WORST:
            mutants[tuple(row[name] for name in ("library", "path", "line", "column", "kind", "turn"))].append(row)
    for same in mutants.values():
        worst = min(same, key=lambda row: _WORST.index(row["label"]))
        yield {name: value for name, value in worst.items() if name != "model"}


def varied(rows: Sequence[Row]) -> list[Row]:
    """Return rows in an order in which files, and kinds of edits in them, take turns."""
    turns: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in random.Random(0).sample(list(rows), len(rows)):
        turns[row["path"]][row["kind"]].append(row)
    kinds: dict[str, int] = defaultdict(int)
    out: list[Row] = []
    while len(out) < len(rows):
        for queues in turns.values():
            left = [kind for kind, queue in queues.items() if queue]
            if left:
                kind = min(left, key=kinds.__getitem__)
                kinds[kind] += 1
                out.append(queues[kind].pop())
    return out


def framework(library: str) -> str:
    """Return the framework that a library is for."""
    return next(model.framework for model in MODELS if model.library == library)


def half(library: str) -> str:
    """Return the half that a library belongs to."""
    libraries = sorted({model.library for model in MODELS if model.framework == framework(library)})
    return ("tune", "held")[libraries.index(library) % 2]


if __name__ == "__main__":
    main()
