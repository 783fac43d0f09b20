"""
Whether the analyzer knows when a reshape or a conversion gives the tensor itself, a view of it, or a copy.

    python -m benchmarks.layouts [--share 0.2] [--seed 1] [--show]

Each program is a network of one layer, one operation whose backward keeps a tensor, one step from `layouts.jsonl`, and
a write to what that gives. All are run on PyTorch first; those that fail for another reason are left out. Of the
programs that raise the table says how many are errors, warnings and missed; of the others what was reported wrongly.
"""

from __future__ import annotations

import argparse
import json
import random
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import torch
from msgspec import Struct

from inplace_lint.driver.analyze_file import Options, check_file

ROWS = Path(__file__).with_suffix(".jsonl")
_SIZES = {3: (2, 3, 4), 4: (2, 4, 4, 4)}
_PROGRAM = """\
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {layer}

    def forward(self, x):
        dev = x.device
        h = {gives}
        {saves}
        {step}
        v.mul_(2)
        return v.sum() + h.sum(){kept}
"""


class Chain(Struct, frozen=True):
    """A network, the number of axes of its input, and the step before the write."""

    axes: int
    step: str
    program: str

    def label(self) -> str:
        """Return what PyTorch does: `raises` for the write, `runs`, or `fails` for another reason."""
        names: dict[str, type[torch.nn.Module]] = {}
        try:
            exec(compile(self.program, "chain", "exec"), names)
            names["Net"]()(torch.randn(*_SIZES[self.axes])).backward()
        except RuntimeError as error:
            return "raises" if "inplace" in str(error) or "view" in str(error) else "fails"
        except (AttributeError, IndexError, TypeError, ValueError):
            return "fails"
        return "runs"


def chains(share: float, seed: int) -> Iterator[Chain]:
    """Yield a share of all programs, drawn with a seed."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    drawn = random.Random(seed)
    steps = [row["step"] for row in rows if "step" in row]
    for row in rows:
        for saves in [one["saves"] for one in rows if "saves" in one] if "layer" in row else ():
            for step in steps:
                if drawn.random() < share:
                    kept = " + z.sum()" if saves.startswith("z") else ""
                    text = _PROGRAM.format(**row, saves=saves, step=step, kept=kept)
                    yield Chain(row["axes"], step, text)


def verdict(chain: Chain) -> str:
    """Return the highest severity that is reported for a program."""
    found = {one.severity.value for one in check_file("chain.py", chain.program, Options()).findings}
    return next((one for one in ("error", "warning") if one in found), "nothing")


def main() -> None:
    """Print the table, and with `--show` the steps of wrong answers, the most frequent first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    table: Counter[tuple[str, str]] = Counter()
    wrong: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for chain in chains(chosen.share, chosen.seed):
        label = chain.label()
        if label != "fails":
            found = verdict(chain)
            table[label, found] += 1
            if found != ("error" if label == "raises" else "nothing"):
                wrong[chain.step, label, found].append(chain.program.split("\n        ")[2].split("\n")[0])
    for label in ("raises", "runs"):
        print(label, *(f"{found}: {table[label, found]}" for found in ("error", "warning", "nothing")))
    for key, layers in sorted(wrong.items(), key=lambda item: -len(item[1])) if chosen.show else ():
        print(len(layers), *key, sorted(set(layers)), sep="\t")


if __name__ == "__main__":
    main()
