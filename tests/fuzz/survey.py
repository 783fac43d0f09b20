"""
Many random programs at once: `python -m tests.fuzz.survey torch 0 10000 [shrink]` tells each disagreement as it comes.

With `shrink`, each is cut down to the statements that it needs.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from inplace_lint.finding import Severity
from tests.fuzz.oracle import DISAGREEMENTS, Oracle, Verdict, compare, findings
from tests.fuzz.programs import program
from tests.fuzz.shrink import shrink


@dataclass(slots=True)
class Survey:
    """How often each verdict was given, and the programs of the disagreements by their seeds."""

    counts: Counter[Verdict] = field(default_factory=Counter)
    quiet: int = 0
    disagreements: dict[int, tuple[Verdict, str]] = field(default_factory=dict)

    def agreement(self) -> float:
        """Give the share of the programs that could be judged on which both sides agree."""
        judged = sum(self.counts.values()) - self.counts[Verdict.SKIPPED]
        agreed = self.counts[Verdict.AGREED_FINE] + self.counts[Verdict.AGREED_RAISES]
        return agreed / max(1, judged)

    def report(self) -> str:
        """Say all counts, and every program on which the two disagree."""
        lines = [f"{count:6} {verdict.value}" for verdict, count in self.counts.most_common()]
        lines.append(f"{self.quiet:6} of those that run without any finding; agreement {self.agreement():.4f}")
        for seed, (verdict, text) in self.disagreements.items():
            lines += [f"\n=== seed {seed}: {verdict.value}", text]
        return "\n".join(lines)


def survey(framework: str, seeds: Iterable[int]) -> Survey:
    """Judge the programs of some seeds."""
    found = Survey()
    oracle = Oracle(framework)
    try:
        for seed in seeds:
            text = program(framework, seed)
            verdict, warned = judge(oracle, text)
            found.counts[verdict] += 1
            found.quiet += verdict is Verdict.AGREED_FINE and not warned
            if verdict in DISAGREEMENTS or verdict is Verdict.WARNED:
                found.disagreements[seed] = verdict, text
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
    return same and (verdict is not Verdict.FALSE_ERROR or bool(_codes(text) & codes))


def _blocks(first: int, last: int) -> Iterator[range]:
    step = 250
    return (range(start, min(start + step, last)) for start in range(first, last, step))


def _main(framework: str, first: int, last: int, *, smaller: bool) -> None:
    whole, oracle = Survey(), Oracle(framework)
    for seeds in _blocks(first, last):
        part = survey(framework, seeds)
        whole.counts += part.counts
        whole.quiet += part.quiet
        for seed, (verdict, text) in part.disagreements.items():
            shown = text
            if smaller:
                codes = _codes(text)
                shown = shrink(text, lambda t, v=verdict, c=codes: _stays(oracle, v, c, t))
            print(f"=== seed {seed}: {verdict.value}\n{shown}", flush=True)
        print(f"--- up to {seeds.stop}: {whole.report()}", flush=True)
    oracle.stop()


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), smaller="shrink" in sys.argv)
