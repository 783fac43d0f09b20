"""
Runs another executor in a process of its own, for libraries whose native code may end the process that calls them.

Whatever ends that process, by a signal, a status or an abort, is one `InplaceLintError` here, and what it writes to its
standard streams is nobody's.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection

from msgspec import Struct

from inplace_lint.core.errors import InplaceLintError
from inplace_lint.driver.executors.executor import Executor, Lost, Result, Task
from inplace_lint.driver.executors.local import heed_parent, how_ended, started

_END_SECONDS = 10


class Apart(Struct, frozen=True):
    """Runs tasks by an executor that has a process of its own; `name` says in errors what that is. See `Executor`."""

    executor: Executor
    name: str

    @property
    def shares_files(self) -> bool:
        """Whether a path means the same file for the executor as here."""
        return self.executor.shares_files

    def run_all(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result | Lost]]:
        """
        Yield the index and the result of every task, in the order in which they finish.

        Raises: `InplaceLintError` as the executor does, and where its process ended before the tasks did.
        """
        process, ours = started(_run, self.executor, work, tasks, os.getpid())
        try:
            while True:
                try:
                    answer = ours.recv()
                except (EOFError, OSError):
                    process.join()
                    msg = f"{self.name} ended before the run did: the process that talks to it {how_ended(process)}"
                    raise InplaceLintError(msg) from None
                if answer is None:
                    process.join(_END_SECONDS)
                    return
                if isinstance(answer, InplaceLintError):
                    raise answer
                yield answer
        finally:
            process.terminate()
            process.join(_END_SECONDS)
            process.kill()
            process.join()
            ours.close()


def _run(
    connection: Connection,
    executor: Executor,
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    parent: int,
) -> None:
    """Send what an executor yields, then None or its error; the end of the parent, or SIGTERM, ends it."""
    heed_parent(parent)
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    try:
        for result in executor.run_all(work, tasks):
            connection.send(result)
        connection.send(None)
    except InplaceLintError as error:
        connection.send(error)
