"""
The warm process of one framework: it imports that once, then answers jobs. The command line names it, and the device.

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
from .import_hosts import Hosts
from .jsonl import in_text, line_of, records
from .jsonl import say as _say

_IMPORT_SECONDS = 100.0


def main() -> None:
    """Say what framework there is, then answer until the input ends."""
    answers = os.dup(1)
    os.dup2(2, 1)
    name, device = sys.argv[1:3]
    forks = hasattr(os, "fork")
    # Importing Paddle starts the driver of a GPU, and no copy of a process that did can use it: each job imports it.
    is_late = forks and name == "paddle" and device == "cuda"
    hello = _hello_of_a_copy(name, answers) if is_late else _hello(name)
    _say(answers, {**hello, "forks": forks})
    if "version" in hello:
        _serve(answers, forks=forks)


def _hello(name: str) -> Dict[str, Any]:
    """Import a framework; give its version, or why there is none."""
    found = attempt.attempt(lambda: importlib.import_module(name))
    if found.error is None:
        return {"version": str(getattr(found.value, "__version__", ""))}
    is_absent = isinstance(found.error, ModuleNotFoundError) and found.error.name == name
    return {"absent": is_absent, "trouble": attempt.in_words(found.error)}


def _hello_of_a_copy(name: str, answers: int) -> Dict[str, Any]:
    """Import a framework in a process that ends."""
    limits = guard.Limits(_IMPORT_SECONDS, 0)
    ending = guard.guarded(lambda file: _say(file, _hello(name)), limits, 0, [answers])
    told = records(ending.told)
    return told[0] if told else {"absent": False, "trouble": ending.trouble}


def _serve(answers: int, *, forks: bool) -> None:
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
    limits = guard.limits_of(order)
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
