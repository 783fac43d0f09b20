"""
What the real framework and the analyzer say of a random program, and whether they agree.

The framework runs in one long child process, which is started again after a program that kills it.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from inplace_lint.core.finding import Finding, Role, Severity
from inplace_lint.driver.analyze_file import Options, check_file
from tests.live import imported

_CHILD = Path(__file__).with_name("child.py")
_SECONDS = 300
_STARTING = 600  # importing a framework takes minutes on a machine that does other things first
_ABOUT_WRITES = re.compile(
    r"modified by an inplace operation|leaf Variable|in-?place|more than one element of the written-to"
    r"|refer to a single memory location|don't support automatic differentiation|doesn't match the broadcast shape"
    r"|can't be cast to the desired output type|Leaf (?:Var|Tensor)|has no attribute 'shape'|inplace_version",
    re.IGNORECASE,
)
_NOT_ABOUT_WRITES = re.compile(r"a second time|after they have already been freed")
_LATER = re.compile(r"its base or another view of its base has been modified inplace")


class Verdict(Enum):
    """How the two answers compare; `SKIPPED` programs failed in another way or killed the process."""

    AGREED_FINE = "both say that it runs"
    AGREED_RAISES = "both say that it raises, at the same write"
    WARNED = "it raises at a write that is only warned of"
    MISSED = "it raises, and nothing is said"
    OTHER_LINE = "it raises at another write"
    FALSE_ERROR = "it runs, and an error is said"
    SKIPPED = "it fails in another way"
    CRASHED = "the analyzer crashed"


DISAGREEMENTS = frozenset({Verdict.MISSED, Verdict.OTHER_LINE, Verdict.FALSE_ERROR, Verdict.CRASHED})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program did; `line` is its own last line on the way to an error, `writes` those of the writes at fault."""

    verdict: str
    error: str = ""
    message: str = ""
    line: int = 0
    in_backward: bool = False
    writes: tuple[int, ...] = ()

    @property
    def about_writes(self) -> bool:
        """Say whether the framework refused a write, or what was written."""
        text = f"{self.error}: {self.message}"
        return self.verdict == "raised" and bool(_ABOUT_WRITES.search(text)) and not _NOT_ABOUT_WRITES.search(text)

    def lines(self) -> frozenset[int]:
        """Give the lines of the writes at fault; none if the run cannot tell."""
        if self.writes:
            return frozenset(self.writes)
        return frozenset() if self.in_backward or _LATER.search(self.message) else frozenset({self.line})


class Oracle:
    """The real framework in a child process; `stop` ends it."""

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self._child: subprocess.Popen[str] | None = None

    def run(self, program: str) -> Outcome:
        """Run a program to its end."""
        child = self._child if self._child is not None and self._child.poll() is None else self._start()
        assert child.stdin is not None
        child.stdin.write(json.dumps(program) + "\n")
        child.stdin.flush()
        answer = _line(child, _SECONDS)
        if not answer:
            self.stop()
            return Outcome("died")
        told = json.loads(answer)
        return Outcome(**{**told, "writes": tuple(told.get("writes", ()))})

    def stop(self) -> None:
        """End the child, if there is one."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3"}
        self._child = subprocess.Popen(
            [imported.python(self.framework), str(_CHILD), self.framework],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        if _line(self._child, _STARTING) != "ready\n":
            self.stop()
            msg = f"{self.framework} cannot be imported"
            raise RuntimeError(msg)
        return self._child


def _line(child: subprocess.Popen[str], seconds: float) -> str:
    """Give the next line that a child writes; empty if it writes none in time, or ended."""
    assert child.stdout is not None
    ready, _, _ = select.select([child.stdout], [], [], seconds)
    return child.stdout.readline() if ready else ""


def findings(program: str) -> tuple[Finding, ...]:
    """Give what the analyzer finds in a program."""
    return check_file("program.py", program, Options()).findings


def compare(outcome: Outcome, found: tuple[Finding, ...]) -> Verdict:
    """Say whether a program did what was said of it."""
    if outcome.verdict == "died" or (outcome.verdict == "raised" and not outcome.about_writes):
        return Verdict.SKIPPED
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    if outcome.verdict == "ran":
        return Verdict.FALSE_ERROR if errors else Verdict.AGREED_FINE
    right = outcome.lines()
    if any(_names(finding, right) for finding in errors):
        return Verdict.AGREED_RAISES
    if any(_names(finding, right) for finding in found):
        return Verdict.WARNED
    return Verdict.OTHER_LINE if errors else Verdict.MISSED


def _names(finding: Finding, right: frozenset[int]) -> bool:
    """Say whether a finding names one of the writes; that at a flag stands for all calls that the flag makes write."""
    is_flag = any(related.role is Role.WRITE for related in finding.related)
    return not right or is_flag or finding.span.line in right
