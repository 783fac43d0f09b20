"""
The warm process of one framework: it imports that once, then runs jobs. The command line names it, and the device.

Each line on its input is an order, each line on its output an answer. A job runs in a guarded copy of this process
where the system has `fork`, or in a copy of one that has imported the job's module already (`import_hosts.py`);
elsewhere this process runs one job itself, and ends.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import tempfile
from typing import Any, Container, Dict, Sequence

from . import attempt, guard, job
from .import_hosts import ImportHosts
from .jsonl import answer, line_of, records_of, write_line

_IMPORT_SECONDS = 100.0


def main() -> None:
    """Write which framework there is, then run jobs until the input ends."""
    answers = os.dup(1)
    os.dup2(2, 1)
    name, device = sys.argv[1:3]
    forks = hasattr(os, "fork")
    # Importing Paddle starts the driver of a GPU, and no copy of a process that did can use it: each job imports it.
    is_late = forks and name == "paddle" and device == "cuda"
    hello = _hello_of_a_copy(name, answers) if is_late else _hello(name)
    write_line(answers, {**hello, "forks": forks})
    if "version" in hello:
        _serve(answers, forks=forks, is_late=is_late)


def _hello(name: str) -> Dict[str, Any]:
    """Import a framework; return its version, or why there is none."""
    found = attempt.attempt(lambda: importlib.import_module(name))
    if found.error is None:
        return {"version": str(getattr(found.value, "__version__", ""))}
    is_absent = isinstance(found.error, ModuleNotFoundError) and found.error.name == name
    return {"absent": is_absent, "trouble": attempt.in_words(found.error)}


def _hello_of_a_copy(name: str, answers: int) -> Dict[str, Any]:
    """Import a framework in a process that ends."""
    limits = guard.Limits(_IMPORT_SECONDS, 0)
    ending = guard.guarded(lambda file: write_line(file, _hello(name)), limits, 0, [answers])
    records = records_of(ending.written)
    return records[0] if records else {"absent": False, "trouble": ending.trouble}


def _serve(answers: int, *, forks: bool, is_late: bool) -> None:
    guard.adopt_orphans()
    hosts = ImportHosts([answers])
    while True:
        line = line_of(0)
        if not line:
            hosts.end()
            return
        order = json.loads(line)
        if not forks:
            write_line(answers, _unguarded(order))
            return
        shared = hosts.answer(order, 0) if order["entry"]["kind"] in job.SHARING else None
        result = shared or _guarded(order, [answers, *hosts.pipes], hosts.pids)
        write_line(answers, result)
        if not is_late:
            _import_what_jobs_need(result["records"])


def _import_what_jobs_need(records: Sequence[Dict[str, Any]]) -> None:
    """Import the packages of the framework that a job imported: those of an optimizer take as long as the framework."""
    for name in (name for one in records if one["kind"] == "imported" for name in one["names"]):
        attempt.attempt(functools.partial(importlib.import_module, name))


def _guarded(order: Dict[str, Any], private: Sequence[int], spared: Container[int]) -> Dict[str, Any]:
    limits = guard.limits_of(order)
    ending = guard.guarded(functools.partial(_run, order), limits, 0, private, spared)
    return answer(*ending)


def _run(order: Dict[str, Any], file: int) -> None:
    job.run(order, functools.partial(write_line, file))


def _unguarded(order: Dict[str, Any]) -> Dict[str, Any]:
    with tempfile.TemporaryFile() as records:
        _run(order, records.fileno())
        records.seek(0)
        return answer("", records.read())
