"""
Programs of one call each, of all layouts of its input: whether torch raises, and whether the tool says so.

    python -m benchmarks.agreement [--show]     # --show prints each program of which the tool is wrong

`agreement.jsonl` has calls of functions and layers, and views. A program writes to the input or the result of a call
after it, where the input is contiguous, transposed, a part, or expanded; or it writes after one of ten uses of a view.
The label is that of a run. The tool sees modules that nothing calls, whose inputs have an unknown shape.
"""

from __future__ import annotations

import argparse
import itertools
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch

from inplace_lint.core.finding import Severity
from inplace_lint.driver.analyze_file import Options, check_file

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
MODULE = """

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear({width}, {width})
        self.w = nn.Parameter(torch.rand(8, 8))
        self.iw = nn.Parameter(torch.rand(24, 8))
        self.layer = {layer}

    def forward(self, x):
        h = {given}
        y = {call}
        z = {use}
        {write}
        return h.sum() + y.sum() + z.sum()
"""
LAYOUTS = {
    "contiguous": "self.first(x)",
    "last axes": "self.first(x).transpose(-1, -2)",
    "first axes": "self.first(x).transpose(0, 1)",
    "rows": "self.first(x)[1:]",
    "one row": "self.first(x)[0]",
    "expanded": "self.first(x)[:1].expand(x.shape)",
    "columns": "torch.cat([self.first(x), x], -1)[..., :x.shape[-1]]",
}
WRITES = ("h += 1", "h[0] = 0.0", "y *= 2")
USES = (
    *("y.exp()", "y * y", "y * 2", "y.sum() * 3", "y.softmax(-1)", "y.sigmoid()"),
    *("y + 1", "y ** 2", "torch.cat([y, y])", "y.mean()"),
)
VIEW_WRITES = ("h += 1", "y += 1", "z *= 2", "h[0] = 0.0", "y[0] = 0.0", "h.zero_()", "y.mul_(3)")
REFUSED = ("in-place", "inplace", "memory location")


class Program(NamedTuple):
    """A module, the shape of its input, and what it is of."""

    text: str
    shape: tuple[int, ...]
    about: str


def main() -> None:
    """Print how many programs raise, and what the tool says of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    shown = parser.parse_args().show
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    counts: Counter[tuple[str, str]] = Counter()
    for program in programs():
        label, told = run(program), said(program)
        counts[label, told] += 1
        if shown and (told == "error") != (label == "raises") and label != "fails":
            print(f"{label}, {told}: {program.about}")
    for (label, told), count in sorted(counts.items()):
        print(f"{count:6} {label}, {told}")


def programs() -> Iterator[Program]:
    """Yield the programs of all rows."""
    path = Path(__file__).with_suffix(".jsonl")
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if "view" in row:
            for use, write in itertools.product(USES, VIEW_WRITES):
                yield _program(row["view"], "nn.Identity()", LAYOUTS["contiguous"], (write, use), (2, 8, 8))
        else:
            layer, shape = row.get("layer", "nn.Identity()"), tuple(row["shape"])
            for given, write in itertools.product(LAYOUTS.values(), WRITES):
                yield _program(row["call"], layer, given, (write, "y + 1"), shape)


def _program(call: str, layer: str, given: str, after: tuple[str, str], shape: tuple[int, ...]) -> Program:
    write, use = after
    text = MODULE.format(width=shape[-1], layer=layer, given=given, call=call, use=use, write=write)
    return Program(HEAD + text, shape, f"{layer} | {given} | {call} | {use} | {write}")


def run(program: Program) -> str:
    """Return whether a program runs, raises for what is written, or fails for another reason."""
    names: dict[str, Any] = {}
    torch.manual_seed(0)
    try:
        exec(compile(program.text, "program.py", "exec"), names)
        names["Net"]()(torch.rand(program.shape) * 0.8 + 0.1).backward()
    except RuntimeError as error:
        return "raises" if any(word in str(error) for word in REFUSED) else "fails"
    except Exception:  # noqa: BLE001 - a call that this layout does not fit
        return "fails"
    return "runs"


def said(program: Program) -> str:
    """Return the highest severity that the tool gives a program; "nothing" if it says nothing."""
    found = {one.severity for one in check_file("program.py", program.text, Options()).findings}
    return "error" if Severity.ERROR in found else "warning" if Severity.WARNING in found else "nothing"


if __name__ == "__main__":
    main()
