"""
The interface of what runs tasks in other processes, each of which may die without an end to the others.

    executor.run_all(check_one, tasks)    # yields (index of a task, its result) as results come

A task whose process died is tried once more, after the others; if that process dies as well, the task is `Lost`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct, field

Task = TypeVar("Task")
Result = TypeVar("Result")


class Lost(Struct, frozen=True):
    """A process ended without an answer to its task, twice; `reason` says how."""

    reason: str


class Executor(Protocol):
    """
    Runs tasks in other processes.

    `shares_files`: the processes see the files of this machine. Where they do not, all that they need comes with the
    work and the tasks.
    """

    @property
    def shares_files(self) -> bool:
        """Whether a path means the same file in the processes as here."""

    def run_all(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result | Lost]]:
        """
        Yield the index and the result of every task, in the order in which they finish.

        `work` can be pickled, is sent to a machine once, and does not raise. Tasks start in the order given; each is
        taken from the sequence when it is sent. Leaving the iterator ends what still runs.

        Raises: `InplaceLintError` where no process can be had.
        """


class Waiting(Struct):
    """The numbers of the tasks that are still to be started."""

    numbers: deque[int]
    again: set[int] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.numbers)

    def next(self) -> int:
        """Return the next number."""
        return self.numbers.popleft()

    def retried(self, number: int, answer: object) -> bool:
        """Check whether a task waits again, since its process died for the first time."""
        if not isinstance(answer, Lost) or number in self.again:
            return False
        self.again.add(number)
        self.numbers.append(number)
        return True


def waiting(tasks: Sequence[object]) -> Waiting:
    """Return the numbers of all tasks, in order."""
    return Waiting(deque(range(len(tasks))))


def cpus() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1
