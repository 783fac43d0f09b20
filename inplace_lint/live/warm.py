"""
Warm processes: one for each framework and interpreter, which runs jobs one after the other.

The process guards each job itself (`child/guard.py`). Here it is started, given orders, and ended: if this process
dies, it sees the end of its input, and ends with all that it started.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping
from typing import IO, Any

from msgspec import Struct, convert

from inplace_lint.live.launch import CHILD
from inplace_lint.live.record import Record, record_of

_START_SECONDS = 120.0
_GRACE_SECONDS = 10.0
_OF_WATCHES = {"watched", "stale", "untracked", "recomputed", "refused", "accepted", "overlapped"}


class Marked(Struct, frozen=True):
    """What a witness saw of one finding in one run: `complete` where it speaks against the finding."""

    number: int
    complete: bool


class Measured(Struct, frozen=True):
    """
    One trial, measured: the `error` that it ended with, if any, and the findings whose place wrote a tensor.

    `apart` is how far its numbers are from those of the first run, relative to the largest; negative if not compared.
    Units: bytes.
    """

    error: str | None
    ran: tuple[int, ...]
    apart: float
    kept: int
    peak: int


class Ran(Struct, frozen=True):
    """
    The result of one job.

    `trouble` is why it did not end well, `error` what the program raised at its end; `made_up` is set where its inputs
    were synthesized. `numbers` are those of each trial, with the words for what they are.
    """

    trouble: str = ""
    error: str = ""
    made_up: bool = False
    records: tuple[Record, ...] = ()
    marks: tuple[Marked, ...] = ()
    numbers: tuple[tuple[tuple[str, float], ...], ...] = ()
    measured: tuple[Measured, ...] = ()
    printed: str = ""

    @property
    def refusals(self) -> frozenset[str]:
        """Return the checks that failed in what ended it."""
        return frozenset(record.check for record in self.records if record.kind == "refused")

    @property
    def problem(self) -> str:
        """Return why it proves nothing; empty where it ran to its end."""
        return self.trouble or self.error


class Warm:
    """A warm process; `version` is that of its framework, `trouble` why there is none."""

    def __init__(self, python: str, framework: str, device: str = "cpu") -> None:
        self.python, self.framework, self.device = python, framework, device
        self.version = self.trouble = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader: threading.Thread | None = None
        self._forks = True

    @property
    def pid(self) -> int:
        """Return the number of the process; 0 where it does not run."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Start the process, which imports its framework, unless it runs already."""
        if self._process is not None or self.trouble:
            return
        quiet = {"GLOG_minloglevel": "3", "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(  # noqa: S603 - what the user asked to run
            [self.python, str(CHILD), "confirm_main", self.framework, self.device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **quiet},
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._lines = queue.SimpleQueue()
        self._reader = threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True)
        self._reader.start()
        hello = self._answer(_START_SECONDS)
        if hello is None or "version" not in hello:
            self.stop()
            self.trouble = self._absence(hello or {})
            return
        self.version = str(hello["version"]).partition("+")[0]
        self._forks = bool(hello["forks"])

    def _absence(self, hello: Mapping[str, Any]) -> str:
        """Return why there is no framework."""
        if hello.get("absent"):
            return f"{self.framework} is not installed in {self.python}"
        trouble = f"{self.framework} could not be imported in {self.python}"
        return f"{trouble}: {hello['trouble']}" if hello else trouble

    def run(self, order: Mapping[str, Any]) -> Ran:
        """Run one job, whatever it does."""
        self.start()
        if self._process is None:
            return Ran(trouble=self.trouble)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self.stop()
            return Ran(trouble="the process that runs jobs was killed")
        answer = self._answer(2 * order["seconds"] + _GRACE_SECONDS)  # importing the module, and the job
        if answer is None:
            self.stop()
            return Ran(trouble="killed the process that guards it, or hung there")
        if not self._forks:
            self.stop()
        return _ran(answer)

    def stop(self) -> None:
        """End the process and all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        assert self._reader is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended before us
            process.stdin.close()
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.wait()
        self._reader.join(_GRACE_SECONDS)  # a pipe that is still read must not be closed
        if not self._reader.is_alive():
            process.stdout.close()

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        """Read one line; None where the process ended or took longer."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return None
        answer: dict[str, Any] | None = json.loads(line) if line else None
        return answer


def _read(pipe: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Read lines until the pipe ends, which an empty line marks: not every system can wait for a pipe in other ways."""
    for line in pipe:
        lines.put(line)
    lines.put(b"")


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _ran(answer: Mapping[str, Any]) -> Ran:
    records: list[Mapping[str, Any]] = answer["records"]
    numbers = [item for item in records if item["kind"] == "numbers"]
    ends = [item["error"] for item in records if item["kind"] == "done"]
    return Ran(
        trouble=answer["trouble"] or ("" if ends else "ended before it was done"),
        error=ends[-1] if ends else "",
        made_up=any(item["kind"] == "made up" for item in records),
        records=tuple(record_of(item) for item in records if item["kind"] in _OF_WATCHES),
        marks=tuple(convert(item, Marked) for item in records if item["kind"] == "mark"),
        numbers=tuple(tuple((what, number) for what, number in item["values"]) for item in numbers),
        measured=tuple(convert(item, Measured) for item in records if item["kind"] == "measured"),
        printed=answer["printed"],
    )
