"""
Ways by which Python and the framework carry a tensor from where it is computed to where it is written.

    python -m benchmarks.flows [--show]      # --show prints the wrong answers

A line of `flows.jsonl` has statements that give `k` from the tensors `a` and `b`, with what they need of the module, of
a constructor and of other methods. Backward keeps `a` in one program and `b` in another; both write to `k`, once in
a network and, unless the statements use `self`, once in a script. All are run: of the programs that raise the table
says how many are errors, warnings and missed, of the others how many are silent, warnings and errors.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from inplace_lint.driver.analyze_file import Options, check_file

ROWS = Path(__file__).with_suffix(".jsonl")
_WORDS = {
    "torch": {
        "parameter": "torch.ones(4, 4, requires_grad=True)",
        "ones": "torch.ones([])",
        "input": "torch.rand(4, 4)",
        "layer": "Module",
    },
    "paddle": {
        "parameter": "paddle.create_parameter([4, 4], 'float32')",
        "ones": "paddle.ones([])",
        "input": "paddle.rand([4, 4])",
        "layer": "Layer",
    },
}
_NETWORK = """\
import {framework}
from {framework} import nn

{setup}


class Net(nn.{layer}):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
{init}

{methods}

    def forward(self, x):
        {kept} = self.fc(x).exp()
        {free} = self.fc(x) + 1
        loss = a.sum() + b.sum()
{statements}
        k.add_({ones})
        return loss


net = Net()
net({input}).backward()
"""
_SCRIPT = """\
import {framework}
from {framework} import nn

{setup}

w = {parameter}
{kept} = (w * 2).exp()
{free} = w + 1
loss = a.sum() + b.sum()
{statements}
k.add_({ones})
loss.backward()
"""


class Flow(Struct, frozen=True):
    """Statements that give `k` from `a` and `b`; without a `framework` they are written for PyTorch and serve both."""

    statements: str
    setup: str = ""
    init: str = ""
    methods: str = ""
    framework: str = ""

    def programs(self, framework: str) -> Iterator[tuple[str, str]]:
        """Yield each program with the name of its form."""
        is_method = bool(self.init or self.methods or "self." in self.statements)
        for kept, free in ("ab", "ba"):
            yield "network", self._filled(_NETWORK, framework, kept, free)
            if not is_method:
                yield "script", self._filled(_SCRIPT, framework, kept, free)

    def _filled(self, form: str, framework: str, kept: str, free: str) -> str:
        inside = " " * 8 if form is _NETWORK else ""
        lines = {
            "statements": textwrap.indent(self.statements, inside),
            "init": textwrap.indent(self.init, inside),
            "methods": textwrap.indent(self.methods, " " * 4),
            "setup": self.setup,
        }
        layer = _WORDS[framework]["layer"]
        lines = {name: text.replace("nn.Module", f"nn.{layer}") for name, text in lines.items()}
        return form.format(framework=framework, kept=kept, free=free, **lines, **_WORDS[framework])


def flows() -> Iterator[Flow]:
    """Yield what the file has."""
    with ROWS.open(encoding="utf-8") as lines:
        yield from (Flow(**json.loads(line)) for line in lines)


def label(program: str) -> str:
    """Return "raises" if backward meets a tensor that was written, "runs", or what else is raised."""
    try:
        exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})
    except Exception as error:  # noqa: BLE001 - whatever it is, such a program says nothing of writes
        return "raises" if "inplace" in str(error) else f"{type(error).__name__}: {error}"
    return "runs"


def answer(program: str) -> str:
    """Return the severity of the worst finding, or "silent"."""
    found = {one.severity.value for one in check_file("program.py", program, Options()).findings}
    return next((severity for severity in ("error", "warning") if severity in found), "silent")


def main() -> None:
    """Print the table, and with `--show` the programs that are judged wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="print programs with a wrong answer")
    parser.add_argument("--framework", choices=sorted(_WORDS), action="append", help="only these")
    chosen = parser.parse_args()
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for flow in flows():
        for framework in chosen.framework or _WORDS:
            if flow.framework not in {"", framework}:
                continue
            for form, program in flow.programs(framework):
                does, says = label(program), answer(program)
                is_right = says == {"raises": "error", "runs": "silent"}.get(does)
                counts[framework, form, does[:60]][says] += 1
                if chosen.show and not is_right:
                    print(f"# {framework}, {form}: {does}, {says}\n{program}\n")
    for (framework, form, does), says in sorted(counts.items()):
        print(f"{framework}, {form}, {does}: {dict(says)}")


if __name__ == "__main__":
    main()
