"""
Runs tasks in processes of this machine, each of which has one task at a time: when one dies, its task is known.

`concurrent.futures` gives up all tasks when one process is killed; one file could then end a run.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Generic

from msgspec import Struct

from inplace_lint.cli.streams import interrupts_held
from inplace_lint.core.errors import InplaceLintError
from inplace_lint.driver.executors.executor import Lost, Result, Task, waiting

# Linux alone has a fork that is both safe here (one thread) and inherits what is imported already.
_PROCESSES: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
_ORPHAN_CHECK_SECONDS = 2.0


class LocalProcesses(Struct, frozen=True):
    """Runs tasks in so many processes of this machine; see `Executor`."""

    jobs: int
    shares_files: bool = True

    def run_all(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result | Lost]]:
        """Yield the index and the result of every task, in the order in which they finish."""
        return run_all(work, tasks, self.jobs)


class _Worker(Struct, Generic[Task, Result]):
    process: Any  # the class depends on the start method
    connection: Connection
    task: int = -1


def run_all(work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int) -> Iterator[tuple[int, Result | Lost]]:
    """
    Yield the index and the result of every task, in the order in which they finish.

    `work` can be pickled and does not raise. Tasks start in the order given; one whose process died is tried once more,
    after the others. Leaving the iterator, or an interrupt, ends the processes; the end of this process does so within
    seconds. Where the system allows fewer processes, fewer are used.

    Raises: `InplaceLintError` where it allows none.
    """
    left = waiting(tasks)
    workers: list[_Worker[Task, Result]] = []
    try:
        while left or workers:
            while left and len(workers) < jobs and (worker := _start(work, among=len(workers))) is not None:
                workers.append(worker)
                _give(worker, left.next(), tasks)
            for ready in wait([worker.connection for worker in workers]):
                worker = next(worker for worker in workers if worker.connection is ready)
                index, answer = worker.task, _answer(worker)
                if left and not isinstance(answer, Lost):
                    _give(worker, left.next(), tasks)
                else:
                    workers.remove(worker)
                    _end(worker)
                if not left.retried(index, answer):
                    yield index, answer
    finally:
        for worker in workers:
            _end(worker)


def _start(work: Callable[[Task], Result], *, among: int) -> _Worker[Task, Result] | None:
    """Start a process beside `among` others; return None where the system allows no more than these."""
    try:
        return _Worker(*started(_serve, work, os.getpid()))
    except InplaceLintError:
        if among:
            return None
        raise


def started(target: Callable[..., None], *arguments: object) -> tuple[Any, Connection]:
    """
    Return a new process that calls a function with its end of a connection and these arguments, and our end.

    The process starts with interrupts held: see `heed_parent`.

    Raises: `InplaceLintError` where the system allows no more processes.
    """
    with contextlib.ExitStack() as opened:
        try:
            ours, theirs = (opened.enter_context(end) for end in _PROCESSES.Pipe())
            process = _PROCESSES.Process(target=target, args=(theirs, *arguments), daemon=True)
            with interrupts_held():  # one must not hit the new process before that ignores it
                process.start()
        except OSError as error:
            msg = f"no process can be started: {(error.strerror or 'error').lower()}; `--jobs 1` does without"
            raise InplaceLintError(msg) from error
        theirs.close()
        opened.pop_all()
    return process, ours


def _give(worker: _Worker[Task, Result], index: int, tasks: Sequence[Task]) -> None:
    worker.task = index
    with contextlib.suppress(OSError):  # it died between two tasks: reading its answer finds the same out
        worker.connection.send(tasks[index])


def _answer(worker: _Worker[Task, Result]) -> Result | Lost:
    try:
        result: Result = worker.connection.recv()
    except (EOFError, OSError):
        worker.process.join()
        return Lost(how_ended(worker.process))
    return result


def how_ended(process: Any) -> str:  # noqa: ANN401 - see `_Worker`
    """Return how a process ended, as the rest of a sentence."""
    code = process.exitcode
    return f"was killed by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"ended with status {code}"


def _end(worker: _Worker[Task, Result]) -> None:
    # Closing our end would not tell it: processes that were forked later hold that end too.
    worker.process.kill()
    worker.process.join()
    worker.connection.close()


def _serve(connection: Connection, work: Callable[[Task], Result], parent: int) -> None:
    """Answer tasks until the other end closes or the parent is gone."""
    heed_parent(parent)
    while os.getppid() == parent:
        try:
            if connection.poll(_ORPHAN_CHECK_SECONDS):
                connection.send(work(connection.recv()))
        except (EOFError, OSError):
            return


def heed_parent(parent: int) -> None:
    """End this process soon after its parent; an interrupt is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        # The parent may be gone while a task is at work, which can take long.
        signal.signal(signal.SIGALRM, lambda _number, _frame: None if os.getppid() == parent else os._exit(1))
        signal.setitimer(signal.ITIMER_REAL, _ORPHAN_CHECK_SECONDS, _ORPHAN_CHECK_SECONDS)
