"""
Proves what `inplace-lint opportunities` proposes: `python benchmarks/opportunities.py PATH MODEL SHAPE [OPTIONS]`.

    python benchmarks/opportunities.py src/net.py net:Net 2,3,32,32 '{"width": 16}' --each

The proposals for PATH, a file or folder, are applied one at a time and then all together, each to a copy of the
top folder of PATH. In a process of its own the model is built with a fixed seed and trained for one step, as it stands
and with the proposals: loss and gradients have to be the same bit for bit, or differ by less than 1e-5 of the largest
value where another kernel computes them (backward of `elu` from its result). Bytes kept for backward are counted by
storage, as `saved_tensors_hooks` shows them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

Edit = dict[str, Any]
_TOLERANCE = 1e-5

_STEP = """
import importlib, json, sys
import torch
module, _, name = sys.argv[1].partition(":")
shape = [int(size) for size in sys.argv[2].split(",")]
torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
model = getattr(importlib.import_module(module), name)(**json.loads(sys.argv[3])).train()
given = torch.randn(*shape)
torch.manual_seed(1)
held, kept = [], {}
def pack(tensor):
    held.append(tensor)
    kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
    return tensor
def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [found for item in inner for found in tensors(item)]
with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
    loss = sum(one.float().pow(2).mean() for one in tensors(model(given)) if one.requires_grad)
loss.backward()
gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
torch.save([loss.detach(), *gradients], sys.argv[4])
print(sum(kept.values()))
"""


@dataclass
class Step:
    """Bytes kept for backward, and the loss and gradients, of one step; or the `error` that it ended with."""

    kept: int
    values: list[torch.Tensor]
    error: str = ""


def main() -> None:
    """Print one line for each proposal, and one for all of them together."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("model", help="MODULE:CLASS, as it is imported beside the top folder of PATH")
    parser.add_argument("shape", help="the sizes of the input, as 2,3,32,32")
    parser.add_argument("options", nargs="?", default="{}", help="keyword arguments of the class, as JSON")
    parser.add_argument("--each", action="store_true", help="apply the proposals one at a time, too")
    chosen = parser.parse_args()
    top = _top(chosen.path.resolve())
    found = proposals(chosen.path.resolve())
    before = step(top, [], chosen)
    print(f"{chosen.model}: {len(found)} proposals, {before.kept:,} bytes kept for backward{before.error}")
    for edits in found if chosen.each else ():
        print(f"  {_shown(edits, top)}: {_compared(before, step(top, [edits], chosen))}")
    if found:
        print(f"  all: {_compared(before, step(top, found, chosen))}")


def proposals(path: Path) -> list[list[Edit]]:
    """Return the edits of each proposal for a file or folder."""
    words = [sys.executable, "-m", "inplace_lint", "opportunities", str(path), "--output-format", "json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    rows = json.loads(done.stdout)
    return [
        [{**edit, "path": row["filename"]} for edit in row["fix"]["edits"]]
        for row in rows
        if row.get("fix") is not None
    ]


def step(top: Path, found: Sequence[Sequence[Edit]], chosen: argparse.Namespace) -> Step:
    """Run a step with these proposals applied."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / top.name
        shutil.copytree(top, copy) if top.is_dir() else shutil.copy(top, copy)
        for path in {edit["path"] for edits in found for edit in edits}:
            target = copy / Path(path).resolve().relative_to(top) if top.is_dir() else copy
            own = [edit for edits in found for edit in edits if edit["path"] == path]
            target.write_text(edited(target.read_text(encoding="utf-8"), own), encoding="utf-8")
        values = Path(folder) / "values.pt"
        words = [sys.executable, "-c", _STEP, chosen.model, chosen.shape, chosen.options, str(values)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
        if done.returncode:
            return Step(0, [], done.stderr.strip().splitlines()[-1])
        return Step(int(done.stdout.splitlines()[-1]), torch.load(values))


def edited(source: str, edits: Sequence[Edit]) -> str:
    """Return a text after these edits, of which no two overlap."""
    lines = source.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    for edit in sorted(edits, key=lambda one: -starts[one["location"]["row"] - 1] - one["location"]["column"]):
        begin = starts[edit["location"]["row"] - 1] + edit["location"]["column"] - 1
        end = starts[edit["end_location"]["row"] - 1] + edit["end_location"]["column"] - 1
        source = source[:begin] + edit["content"] + source[end:]
    return source


def _top(path: Path) -> Path:
    """Return the outermost package around a path; the path itself where it is in none."""
    top = path
    while (top.parent / "__init__.py").exists():
        top = top.parent
    return top


def _shown(edits: Sequence[Edit], top: Path) -> str:
    return f"{Path(edits[0]['path']).resolve().relative_to(top.parent)}:{edits[0]['location']['row']}"


def _compared(before: Step, after: Step) -> str:
    if after.error or len(before.values) != len(after.values):
        return f"FAILED: {after.error}"
    largest = max(float(one.abs().max()) for one in before.values)
    pairs = zip(before.values, after.values, strict=True)
    apart = max(float((one - other).abs().max()) for one, other in pairs) / largest
    same = "equal" if apart == 0 else f"apart by {apart:.0e}" if apart < _TOLERANCE else f"DIFFERENT by {apart:.0e}"
    return f"loss and gradients {same}, {after.kept:,} bytes ({100 * (after.kept - before.kept) / before.kept:+.1f} %)"


if __name__ == "__main__":
    main()
