"""
The warm process of one framework: it imports the framework once, then answers jobs; the command line names it.

Each line on its input is a job, each line on its output an answer. A job runs in a guarded copy of this process where
the system has `fork`; elsewhere this process runs one job itself, and ends.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from typing import Any, Callable, Dict

from . import attempt, guard, job


def main() -> None:
    """Say what framework there is, then answer until the input ends."""
    answers = os.dup(1)
    os.dup2(2, 1)
    name = sys.argv[1]
    found = attempt.attempt(lambda: importlib.import_module(name))
    if found.error is not None:
        is_absent = isinstance(found.error, ModuleNotFoundError) and found.error.name == name
        _say(answers, {"trouble": "no %s" % name if is_absent else attempt.in_words(found.error)})
        return
    forks = hasattr(os, "fork")
    _say(answers, {"version": str(getattr(found.value, "__version__", "")), "forks": forks})

    guard.adopt_orphans()
    while True:
        line = _line()
        if not line:
            return
        order = json.loads(line)
        if not forks:
            _say(answers, _unguarded(job, order))
            return
        work = _work(job, order)
        ending = guard.guarded(work, guard.Limits(order["seconds"], order["memory"]), 0, answers)
        printed = ending.printed.decode("utf-8", "replace")
        _say(answers, {"trouble": ending.trouble, "told": _records(ending.told), "printed": printed})


def _line() -> bytes:
    """Read one line without reading on, so that the guard sees whether more, or the end, is there."""
    line = bytearray()
    while not line.endswith(b"\n"):
        char = os.read(0, 1)
        if not char:
            return b""
        line += char
    return bytes(line)


def _work(job: Any, order: Dict[str, Any]) -> Callable[[int], None]:
    def work(file: int) -> None:
        job.run(order, lambda record: _say(file, record))

    return work


def _unguarded(job: Any, order: Dict[str, Any]) -> Dict[str, Any]:
    with tempfile.TemporaryFile() as told:
        _work(job, order)(told.fileno())
        told.seek(0)
        return {"trouble": "", "told": _records(told.read()), "printed": ""}


def _records(told: bytes) -> Any:
    """Parse what a job told; its last line may be cut short."""
    return [json.loads(line) for line in told.splitlines(keepends=True) if line.endswith(b"\n")]


def _say(file: int, data: Dict[str, Any]) -> None:
    rest = (json.dumps(data) + "\n").encode()
    while rest:
        rest = rest[os.write(file, rest) :]
