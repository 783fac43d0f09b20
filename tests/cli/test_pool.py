from __future__ import annotations

import os
import signal
import time

from inplace_lint.driver.executors.executor import Lost
from inplace_lint.driver.executors.local import run_all


def square_or_die(task: int) -> int:
    if task < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


def leave(task: int) -> int:
    os._exit(task)


def nap(task: float) -> float:
    time.sleep(task)
    return task


def test_every_task_has_one_answer():
    tasks = list(range(50))
    assert dict(run_all(square_or_die, tasks, 3)) == {task: task * task for task in tasks}


def test_a_killed_process_loses_one_task_and_no_other():
    tasks = [3, -1, 4, -1, -1, 5]
    lost = Lost("was killed by signal 9 (SIGKILL)")
    assert dict(run_all(square_or_die, tasks, 2)) == {0: 9, 1: lost, 2: 16, 3: lost, 4: lost, 5: 25}


def test_a_process_that_ends_by_itself_is_reported_with_its_status():
    assert dict(run_all(leave, [7], 4)) == {0: Lost("ended with status 7")}


def test_leaving_early_ends_the_processes():
    started = time.monotonic()
    results = run_all(nap, [0.0, 60.0, 60.0], 2)
    assert next(results) == (0, 0.0)
    results.close()
    assert time.monotonic() - started < 20


def test_no_task_is_no_work():
    assert list(run_all(nap, [], 4)) == []
