"""`--watch` checks again after each change, and finds what a run of its own would find."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_LONGEST_SECONDS = 60

pytest.importorskip("watchfiles")


class Watched:
    """A running `inplace-lint --watch`; what it prints is read in a thread."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "inplace_lint", "--watch", "--output-format", "concise", *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def next_run(self) -> list[str]:
        """Return the lines up to the one that says that it waits."""
        lines: list[str] = []
        until = time.monotonic() + _LONGEST_SECONDS
        while not lines or not lines[-1].startswith("watching for changes"):
            lines.append(self._lines.get(timeout=max(0.1, until - time.monotonic())))
        return lines[:-1]

    def runs_until(self, text: str) -> list[str]:
        """Return the lines of the first run that prints a text; a change may come in several steps."""
        while text not in "\n".join(lines := self.next_run()):
            pass
        return lines

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=_LONGEST_SECONDS)


@pytest.fixture
def watched(folder: Path, clean: str) -> Iterator[Watched]:
    (folder / "a.py").write_text(clean)
    running = Watched(folder, ".")
    yield running
    running.process.kill()


def test_a_change_is_checked_and_an_interrupt_ends_it(watched, folder, buggy, clean):
    assert watched.next_run() == ["All checks passed!"]
    (folder / "a.py").write_text(buggy)
    assert watched.runs_until("IPL101")[0].startswith("a.py:5:1: error[IPL101] ")
    (folder / "b.py").write_text(buggy)
    assert watched.runs_until("b.py")[1].startswith("b.py:5:1: error[IPL101] ")
    (folder / "b.py").unlink()
    (folder / "a.py").write_text(clean)
    watched.runs_until("All checks passed!")
    assert watched.stop() == 130


def test_a_wrong_configuration_is_reported_and_the_next_change_is_checked(watched, folder, buggy):
    watched.next_run()
    (folder / "pyproject.toml").write_text("[tool.inplace-lint]\nselekt = ['IPL1']\n")
    assert "selekt" in watched.runs_until("error: ")[0]
    (folder / "pyproject.toml").write_text("[tool.inplace-lint]\nselect = ['IPL1']\n")
    watched.runs_until("All checks passed!")
    (folder / "a.py").write_text(buggy)
    watched.runs_until("IPL101")
    assert watched.stop() == 130


@pytest.mark.parametrize("words", [("--fix", "."), ("--diff", "."), ("-",), ("--add-noqa", ".")])
def test_what_does_not_go_with_it_is_refused(lint, words):
    ran = lint("--watch", *words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: --watch cannot be combined with ")
