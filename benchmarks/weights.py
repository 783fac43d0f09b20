"""
Whether the analyzer knows which weights a layer keeps, and what backward uses of them.

    python -m benchmarks.weights [--show]      # --show prints the wrong answers

`weights.jsonl` has layers, and operations on a parameter. Each is a network alone, behind a layer that is trained, and
behind one that is detached; between its forward and its backward one weight is written, or all of them, by a step or
otherwise. All are run: of the programs that raise the table says how many are errors, warnings and missed. A program
that runs is *wrong* if its gradients differ from those without the write, else *right*.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from inplace_lint.driver.analyze_file import Options, check_file

ROWS = Path(__file__).with_suffix(".jsonl")
_GIVEN = {"alone": "x", "behind a layer": "self.first(x)", "detached": "self.first(x).detach()"}
_NO_GRAD = "with {framework}.no_grad():\n    "
_ONE = {
    "torch": {
        "mul_": _NO_GRAD + "{weight}.mul_(2)",
        "copy_": _NO_GRAD + "{weight}.copy_(torch.zeros_like({weight}))",
        "+=": _NO_GRAD + "{weight} += 1",
        "data": "{weight}.data.mul_(2)",
    },
    "paddle": {
        "scale_": _NO_GRAD + "{weight}.scale_(2.0)",
        "add_": _NO_GRAD + "{weight}.add_(paddle.ones_like({weight}))",
        "item": _NO_GRAD + "{weight}[0] = 0.5",
        "assign": "paddle.assign({weight} * 2, {weight})",
        "set_value": "{weight}.set_value({weight} * 2)",
    },
}
_STEP = "other = net(x).square().sum()\nother.backward()\noptimizer.step()"
_ALL = {
    "torch": {
        "step": _STEP,
        "load": "net.load_state_dict({key: 2 * value for key, value in net.state_dict().items()})",
        "average": _NO_GRAD + "for p in net.parameters():\n        p.mul_(0.9)",
    },
    "paddle": {
        "step": _STEP,
        "load": "net.set_state_dict({key: 2 * value for key, value in net.state_dict().items()})",
        "average": _NO_GRAD + "for p in net.parameters():\n        p.scale_(0.9)",
    },
}
_OPTIMIZERS = {
    "torch": "torch.optim.SGD(net.parameters(), lr=0.1)",
    "paddle": "paddle.optimizer.SGD(0.1, parameters=net.parameters())",
}
_MADE = {
    "torch": "nn.Parameter({0})",
    "paddle": "self.create_parameter({0}, default_initializer=nn.initializer.Uniform(0.2, 0.8))",
}
_PROGRAM = """\
import {framework}
import {framework}.nn.functional as F
from {framework} import nn


class Net(nn.{base}):
    def __init__(self):
        super().__init__()
        self.first = {first}
        {made}

    def forward(self, x):
        h = {given}
        return {call}


net = Net()
optimizer = {optimizer}
x = {x}
loss = net(x).square().sum()
{write}
loss.backward()
"""
_REFUSED = ("inplace", "in-place", "leaf")


class Program(Struct, frozen=True):
    """A program with a write, the same without it, and what both are of."""

    framework: str
    about: str
    text: str
    calm: str

    def label(self) -> str:
        """Return what the framework does: `raises` for the write, `wrong`, `right`, or `fails` for another reason."""
        try:
            written, expected = (_gradients(self.framework, text) for text in (self.text, self.calm))
        except Exception as error:  # noqa: BLE001 - whatever a program raises
            return "raises" if any(word in str(error).lower() for word in _REFUSED) else "fails"
        pairs = zip(written, expected, strict=True)
        return "right" if all(np.allclose(*pair, rtol=1e-4, atol=1e-6) for pair in pairs) else "wrong"


def _gradients(framework: str, text: str) -> list[np.ndarray]:
    """Run a program; return the gradients of the parameters of its network."""
    seed = {"torch": "torch.manual_seed(0)", "paddle": "paddle.seed(0)"}[framework]
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(f"import {framework}\n{seed}\n{text}", "program.py", "exec"), names)
    return [one.grad.numpy() for one in names["net"].parameters() if one.grad is not None]


def programs() -> Iterator[Program]:
    """Yield the programs."""
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        framework = row["framework"]
        made = (
            f"self.layer = {row['layer']}"
            if "layer" in row
            else f"self.p = {_MADE[framework].format(row['parameter'])}"
        )
        words = {**row, "made": made, "base": "Module" if framework == "torch" else "Layer"}
        writes = {name: form.replace("{framework}", framework) for name, form in _ALL[framework].items()}
        for weight in row["weights"]:
            path = re.sub(r"\.(\d+)(?=\.)", r"[\1]", f"net.{weight}" if weight == "p" else f"net.layer.{weight}")
            writes |= {
                f"{weight} {name}": form.format(weight=path, framework=framework)
                for name, form in _ONE[framework].items()
            }
        for (place, given), (name, write) in ((one, other) for one in _GIVEN.items() for other in writes.items()):
            calm = write.removesuffix("optimizer.step()") if name == "step" else ""
            texts = [
                _PROGRAM.format(**words, given=given, write=one, optimizer=_OPTIMIZERS[framework])
                for one in (write, calm)
            ]
            yield Program(
                framework, f"{row.get('layer', row.get('parameter'))}: {row['call']}, {place}, {name}", *texts
            )


def main() -> None:
    """Print the table, and with `--show` what was judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print the wrong answers")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    table: Counter[tuple[str, str, str]] = Counter()
    wrong: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for program in programs():
        label = program.label()
        if label == "fails":
            continue
        severities = {one.severity.value for one in check_file("program.py", program.text, Options()).findings}
        found = next((one for one in ("error", "warning") if one in severities), "nothing")
        table[program.framework, label, found] += 1
        if found != {"raises": "error", "wrong": "warning", "right": "nothing"}[label]:
            wrong[label, found].append(program.about)
    for framework, label in sorted({key[:2] for key in table}):
        counts = (f"{found}: {table[framework, label, found]}" for found in ("error", "warning", "nothing"))
        print(framework, label, *counts)
    for key, abouts in wrong.items() if chosen.show else ():
        print(*key, *abouts, sep="\n    ")


if __name__ == "__main__":
    main()
