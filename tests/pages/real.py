"""
Programs run on the real framework, in a child process that outlives them.

Importing a framework takes seconds, so a child is forked from a process that has done so, and runs many programs; it
is started again after a program that kills it or takes too long. What a program prints is dropped, what it raises comes
back.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.live import imported
from tests.once import once

_CHILD = Path(__file__).with_name("real_child.py")
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What a program did: `ran`, `raised` or `died` (the process ended or hung).

    `line` is the last line of the program itself on the way to the error, `in_backward` whether a backward ran then.
    """

    verdict: str
    error: str = ""
    message: str = ""
    line: int = 0
    in_backward: bool = False


class Real:
    """A child process with one framework in it; `stop` ends it."""

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self._child: subprocess.Popen[str] | None = None

    def run(self, program: Path) -> Outcome:
        """Run a program to its end."""
        child = self._child if self._child is not None and self._child.poll() is None else self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(f"{program}\n")
        child.stdin.flush()
        ready, _, _ = select.select([child.stdout], [], [], _SECONDS)
        answer = child.stdout.readline() if ready else ""
        if not answer:
            self.stop()
            return Outcome("died", message=f"{program.name} killed its process, or took more than {_SECONDS} s")
        return Outcome(**json.loads(answer))

    def version(self) -> str:
        """Give the version of the framework that the children import."""
        return _version(self.framework)

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
        return self._child


@once
def _version(framework: str) -> str:
    command = [sys.executable, "-c", f"import {framework} as f; print(f.__version__)"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return printed.split()[-1].partition("+")[0]
