"""An executor in a process of its own: what ends that process is one error here, and its streams are nobody's."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from inplace_lint.core.errors import InplaceLintError
from inplace_lint.driver.executors.apart import Apart
from inplace_lint.driver.executors.executor import Lost

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the executors of these tests are not pickled")


HERE = os.getpid()


class Here:
    """Does the tasks in the process that calls it."""

    shares_files = False

    def run_all(self, work, tasks):
        for number, task in enumerate(tasks):
            yield number, work(task)


def test_results_are_those_of_the_executor():
    there = Apart(Here(), "It")
    assert not there.shares_files
    assert list(there.run_all(lambda task: (task, os.getpid() == HERE), range(3))) == [
        (0, (0, False)), (1, (1, False)), (2, (2, False))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("end", "how"),
    [
        (lambda: os._exit(1), "ended with status 1"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "was killed by signal 9 (SIGKILL)"),
    ],
)
def test_the_end_of_its_process_is_one_error_and_nothing_is_written(end, how, capfd):
    def work(task):
        if task:
            os.write(2, b"native code says this\n")
            os.write(1, b"and that\n")
            end()
        return Lost("by the executor")

    results = Apart(Here(), "It").run_all(work, [0, 1])
    assert next(results) == (0, Lost("by the executor"))
    with pytest.raises(InplaceLintError) as raised:
        next(results)
    assert str(raised.value) == f"It ended before the run did: the process that talks to it {how}"
    assert capfd.readouterr() == ("", "")


def test_its_errors_come_here():
    def work(_task):
        msg = "no cluster"
        raise InplaceLintError(msg)

    with pytest.raises(InplaceLintError, match=r"^no cluster$"):
        list(Apart(Here(), "It").run_all(work, [0]))


def test_leaving_early_ends_its_process(tmp_path):
    def work(task):
        (tmp_path / str(os.getpid())).touch()
        time.sleep(task)

    results = Apart(Here(), "It").run_all(work, [0, 60])
    assert next(results) == (0, None)
    started = time.monotonic()
    results.close()
    assert time.monotonic() - started < 10
    with pytest.raises(ProcessLookupError):
        os.kill(int(next(tmp_path.iterdir()).name), 0)
