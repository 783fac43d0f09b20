"""
Conditions that Python or the framework decides: whether the analyzer comes to the same side.

    python -m benchmarks.conditions [--show] [--run]    # --run runs them on the real frameworks

A line of `conditions.jsonl` has the statements before a condition that holds, and the condition. It is put before a
write that makes backward raise, and so is its negation; both in a `forward`, with the statements inside of it or in
the module. `computed`: the analyzer reports the first and is silent on the second. `unknown`: it reports both, so that
healthy code has an error. `wrong`: it does not report the first, since it is sure of the other side.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from inplace_lint.core.finding import Severity
from inplace_lint.driver.analyze_file import Options, check_file

CONDITIONS = Path(__file__).with_suffix(".jsonl")
_PROGRAM = """\
import {framework}
from {framework} import nn

{module}


class Net(nn.{base}):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x).exp()
{function}
        if {test}:
            h.add_({one})
        return h.sum()


net = Net()
net({framework}.{random}).backward()
"""
_WORDS = {
    "torch": {"base": "Module", "one": "1", "random": "rand(2, 4)"},
    "paddle": {"base": "Layer", "one": "paddle.ones([4])", "random": "rand([2, 4])"},
}


class Condition(Struct, frozen=True):
    """A condition that holds after some statements."""

    framework: str
    holds: str
    setup: str = ""

    def program(self, *, negated: bool, inside: bool) -> str:
        """Return the program whose write runs if the condition holds, or does not; the statements may be `inside`."""
        return _PROGRAM.format(
            framework=self.framework,
            module="" if inside else self.setup,
            function=textwrap.indent(self.setup, " " * 8) if inside else "",
            test=f"not ({self.holds})" if negated else self.holds,
            **_WORDS[self.framework],
        )


def conditions() -> Iterator[Condition]:
    """Yield the conditions."""
    with CONDITIONS.open(encoding="utf-8") as lines:
        yield from (Condition(**json.loads(line)) for line in lines)


def verdict(condition: Condition, *, inside: bool) -> str:
    """Return "computed", "unknown" or "wrong"."""
    if not _is_reported(condition.program(negated=False, inside=inside)):
        return "wrong"
    return "unknown" if _is_reported(condition.program(negated=True, inside=inside)) else "computed"


def _is_reported(program: str) -> bool:
    findings = check_file("program.py", program, Options()).findings
    return any(one.severity is Severity.ERROR for one in findings)


def agrees(condition: Condition, *, inside: bool) -> bool:
    """Run both programs on the real framework; return whether backward raises just where the condition holds."""
    return all(_raises(condition.program(negated=one, inside=inside)) is not one for one in (False, True))


def _raises(program: str) -> bool | None:
    """Return whether backward of a program raises for a write; None where anything else goes wrong."""
    try:
        exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})
    except Exception as error:  # noqa: BLE001 - whatever it is, such a condition says nothing
        return True if "inplace operation" in str(error) else None
    return False


def main() -> None:
    """Print how many conditions are computed, are unknown, and are taken for the wrong side."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="print those that are not computed")
    parser.add_argument("--run", action="store_true", help="run each on its framework instead")
    chosen = parser.parse_args()
    counts: Counter[tuple[str, str, str]] = Counter()
    for condition in conditions():
        for inside in (True, False):
            place = "in a function" if inside else "in a module"
            if chosen.run:
                found = "as labelled" if agrees(condition, inside=inside) else "not as labelled"
            else:
                found = verdict(condition, inside=inside)
            counts[condition.framework, place, found] += 1
            if chosen.show and found not in {"computed", "as labelled"}:
                print(f"{found}, {place}: {condition.holds}\n{textwrap.indent(condition.setup, '    ')}")
    for (framework, place, found), count in sorted(counts.items()):
        print(f"{framework}, {place}: {count} {found}")


if __name__ == "__main__":
    main()
