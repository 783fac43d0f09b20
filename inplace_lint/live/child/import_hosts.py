"""
Processes that have imported a module, and run several targets of it: each target in a guarded copy of its own.

A host is a guarded copy of the warm process, as a job is. It imports the module of the first order, says whether copies
can share it, and answers orders until its input ends. An import that fails, hangs or crashes is tried once: its answer
holds for all targets of that module. What importing leaves running (threads, processes, a GPU) does not survive a copy:
such a module is imported anew for each target.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from . import guard, job
from .jsonl import answer, line_of, write_line

_MOST = 3  # each holds the memory of what it imported
_MOST_WRITTEN = 64 * 1024 * 1024  # several times what one job may write
_GRACE_SECONDS = 5.0  # for the host's own guard, which ends a job that takes too long
_SAME = (
    "path", "paths", "device", "seconds", "memory", "numbers", "written", "form", "repairs", "nodes", "lines", "gain",
    "beside",
)  # fmt: skip


class _Host(NamedTuple):
    """A running host: `orders` is the pipe that it reads, `printed` what importing printed."""

    watch: guard.Watch
    orders: int
    printed: bytes


class ImportHosts:
    """The hosts of one warm process; `private` are descriptors that they must not have."""

    def __init__(self, private: Sequence[int]) -> None:
        self._private = private
        self._running: Dict[str, _Host] = {}
        self._settled: Dict[str, Optional[Dict[str, Any]]] = {}

    @property
    def pids(self) -> List[int]:
        """Return the processes that are hosts."""
        return [host.watch.child for host in self._running.values()]

    @property
    def pipes(self) -> List[int]:
        """Return the pipes to them."""
        return [host.orders for host in self._running.values()]

    def answer(self, order: Dict[str, Any], owner: int) -> Optional[Dict[str, Any]]:
        """Run an order in a copy of the host of its module; None where the module cannot be shared."""
        marks = order["marks"] if order.get("form") else []  # a form of the framework is one for these marks
        key = json.dumps([marks, *(order.get(name) for name in _SAME)])
        if key not in self._running and key not in self._settled:
            self._begin(key, order, owner)
        host = self._running.get(key)
        if host is None:
            return self._settled[key]
        with contextlib.suppress(BrokenPipeError):  # it has ended, as waiting for it shows
            write_line(host.orders, order)
        trouble = host.watch.wait(guard.Limits(order["seconds"] + _GRACE_SECONDS, 0), owner, _has_line)
        written = host.watch.written
        so_far = answer(trouble, printed=host.printed)
        if trouble:
            self._end(key)
            return so_far
        host.watch.forget()
        ended: Dict[str, Any] = json.loads(written)
        return {**ended, "printed": so_far["printed"] + ended["printed"]}

    def end(self) -> None:
        """End all hosts."""
        for key in list(self._running):
            self._end(key)

    def _begin(self, key: str, order: Dict[str, Any], owner: int) -> None:
        """Start the host of an order, or settle the answer without one."""
        while len(self._running) >= _MOST:
            self._end(next(iter(self._running)))
        reading, writing = os.pipe()
        limits = guard.limits_of(order)
        watch = guard.begun(
            functools.partial(_serve, order, reading), limits, [*self._private, *self.pipes, writing], _MOST_WRITTEN
        )
        os.close(reading)
        trouble = watch.wait(limits, owner, _has_line)
        host = self._running[key] = _Host(watch, writing, watch.printed)
        if trouble:
            self._end(key)
            self._settled[key] = answer(trouble, printed=host.printed)
        elif not json.loads(watch.written)["shares"]:
            self._end(key)
            self._settled[key] = None
        watch.forget()

    def _end(self, key: str) -> None:
        host = self._running.pop(key)
        os.close(host.orders)
        host.watch.end()
        guard.kill_orphans(self.pids)
        host.watch.drain()


def _has_line(written: bytes) -> bool:
    return written.endswith(b"\n")


def _serve(order: Dict[str, Any], orders: int, answers: int) -> None:
    guard.adopt_orphans()
    target = job.prepared(order)
    target.load()
    sys.stdout.flush()  # before the answer, with which the owner reads what the import printed
    sys.stderr.flush()
    is_alone = threading.active_count() == 1 and not guard.children()
    write_line(answers, {"shares": is_alone and not target.adapter.holds_gpu()})
    while True:
        line = line_of(orders)
        if not line:
            return
        following = json.loads(line)
        limits = guard.limits_of(following)
        ending = guard.guarded(functools.partial(_continue, target, following), limits, orders, [answers, orders])
        write_line(answers, answer(*ending))


def _continue(target: job.Target, order: Dict[str, Any], file: int) -> None:
    target.begin(order, functools.partial(write_line, file))
    target.run()
