"""
The warm process of one framework: it imports the framework once, then answers jobs; the command line names it.

Each line on its input is a job, each line on its output an answer. A job runs in a guarded copy of this process where
the system has `fork`, or in one of a copy that has imported the job's module already (`hosts.py`); elsewhere this
process runs one job itself, and ends.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from typing import Any, Callable, Container, Dict, Sequence

from . import attempt, guard, job
from .hosts import Hosts
from .lines import in_text, line_of, records
from .lines import say as _say


def main() -> None:
    """Say what framework there is, then answer until the input ends."""
    answers = os.dup(1)
    os.dup2(2, 1)
    name = sys.argv[1]
    found = attempt.attempt(lambda: importlib.import_module(name))
    if found.error is not None:
        is_absent = isinstance(found.error, ModuleNotFoundError) and found.error.name == name
        _say(answers, {"absent": is_absent, "trouble": attempt.in_words(found.error)})
        return
    forks = hasattr(os, "fork")
    _say(answers, {"version": str(getattr(found.value, "__version__", "")), "forks": forks})

    guard.adopt_orphans()
    hosts = Hosts([answers])
    while True:
        line = line_of(0)
        if not line:
            hosts.end()
            return
        order = json.loads(line)
        if not forks:
            _say(answers, _unguarded(order))
            return
        shared = hosts.answer(order, 0) if order["entry"]["kind"] in job.SHARING else None
        _say(answers, shared or _guarded(order, [answers, *hosts.pipes], hosts.pids))


def _guarded(order: Dict[str, Any], private: Sequence[int], spared: Container[int]) -> Dict[str, Any]:
    limits = guard.Limits(order["seconds"], order["memory"])
    ending = guard.guarded(_work(order), limits, 0, private, spared)
    return {"trouble": ending.trouble, "told": records(ending.told), "printed": in_text(ending.printed)}


def _work(order: Dict[str, Any]) -> Callable[[int], None]:
    def work(file: int) -> None:
        job.run(order, lambda record: _say(file, record))

    return work


def _unguarded(order: Dict[str, Any]) -> Dict[str, Any]:
    with tempfile.TemporaryFile() as told:
        _work(order)(told.fileno())
        told.seek(0)
        return {"trouble": "", "told": records(told.read()), "printed": ""}
