"""
Many random programs at once: `python -m tests.fuzz.survey torch 0 10000 [shrink]` tells each disagreement as it comes.

With `shrink`, each is cut down to the statements that it needs.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from inplace_lint.core.finding import Severity
from tests.fuzz.oracle import DISAGREEMENTS, Oracle, Verdict, compare, findings
from tests.fuzz.programs import program
from tests.fuzz.shrink import shrink

_REACHED = "the line was reached"
_TOLD = 250  # programs between two lines about all


@dataclass(slots=True)
class Survey:
    """How often each verdict was given, and the programs of the disagreements by their seeds."""

    counts: Counter[Verdict] = field(default_factory=Counter)
    quiet: int = 0
    disagreements: dict[int, tuple[Verdict, str]] = field(default_factory=dict)

    def take(self, seed: int, oracle: Oracle) -> Verdict:
        """Judge the program of one seed."""
        text = program(oracle.framework, seed)
        verdict, warned = judge(oracle, text)
        self.counts[verdict] += 1
        self.quiet += verdict is Verdict.AGREED_FINE and not warned
        if verdict in DISAGREEMENTS or verdict is Verdict.WARNED:
            self.disagreements[seed] = verdict, text
        return verdict

    def agreement(self) -> float:
        """Give the share of the programs that could be judged on which both sides agree."""
        judged = sum(self.counts.values()) - self.counts[Verdict.SKIPPED]
        agreed = self.counts[Verdict.AGREED_FINE] + self.counts[Verdict.AGREED_RAISES]
        return agreed / max(1, judged)

    def report(self) -> str:
        """Say all counts, and every program on which the two disagree."""
        lines = [f"{count:6} {verdict.value}" for verdict, count in self.counts.most_common()]
        lines.append(f"{self.quiet:6} of those that run get no finding at all; agreement {self.agreement():.4f}")
        for seed, (verdict, text) in self.disagreements.items():
            lines += [f"\n=== seed {seed}: {verdict.value}", text]
        return "\n".join(lines)


def survey(framework: str, seeds: Iterable[int]) -> Survey:
    """Judge the programs of some seeds."""
    found, oracle = Survey(), Oracle(framework)
    try:
        for seed in seeds:
            found.take(seed, oracle)
    finally:
        oracle.stop()
    return found


def judge(oracle: Oracle, text: str) -> tuple[Verdict, bool]:
    """Compare what a program does with what is found in it; says too whether anything was."""
    found = findings(text)
    return compare(oracle.run(text), found), bool(found)


def _codes(text: str) -> set[str]:
    return {finding.code for finding in findings(text) if finding.severity is Severity.ERROR}


def _stays(oracle: Oracle, verdict: Verdict, codes: set[str], text: str) -> bool:
    """Say whether a smaller program shows the same disagreement."""
    try:
        same = judge(oracle, text)[0] is verdict
    except SyntaxError:
        return False
    if not same or verdict is not Verdict.FALSE_ERROR:
        return same
    errors = [finding for finding in findings(text) if finding.severity is Severity.ERROR and finding.code in codes]
    return any(_is_reached(oracle, text, finding.span.line) for finding in errors)


def _is_reached(oracle: Oracle, text: str, line: int) -> bool:
    """Say whether a program comes to the statement of a line: an error in what never runs is another matter."""
    tree = ast.parse(text)
    blocks = [getattr(node, field, None) for node in ast.walk(tree) for field in ("body", "orelse", "finalbody")]
    for block in blocks:
        for place, statement in enumerate(block if isinstance(block, list) else ()):
            if statement.lineno == line:
                block.insert(place, ast.parse(f"raise RuntimeError({_REACHED!r})").body[0])
                return oracle.run(ast.unparse(tree)).message == _REACHED
    return False


def _smallest(oracle: Oracle, verdict: Verdict, text: str) -> str:
    codes = _codes(text)
    return shrink(text, lambda smaller: _stays(oracle, verdict, codes, smaller))


def _main(framework: str, first: int, last: int, *, smaller: bool) -> None:
    found, oracle = Survey(), Oracle(framework)
    for seed in range(first, last):
        verdict = found.take(seed, oracle)
        if seed in found.disagreements:
            text = found.disagreements.pop(seed)[1]
            shown = _smallest(oracle, verdict, text) if smaller else text
            sys.stdout.write(f"=== seed {seed}: {verdict.value}\n{shown}\n")
        if (seed + 1 - first) % _TOLD == 0 or seed + 1 == last:
            sys.stdout.write(f"--- up to {seed + 1}:\n{found.report()}\n")
            sys.stdout.flush()
    oracle.stop()


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), smaller="shrink" in sys.argv)
