"""
Runs one job in a process of its own, and leaves nothing of it behind.

A job is a forked copy of the process that calls `guarded`, in a process group of its own. It ends by itself, when its
time or memory is used up, or when it is no longer needed. Its whole group is killed then, and on Linux also what
left the group: orphans are adopted there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
import traceback
from typing import Any, Callable, Container, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from .attempt import attempt

_POLL_SECONDS = 0.05
_KEPT = 64 * 1024  # bytes of what a program prints
_MOST_WRITTEN = 16 * 1024 * 1024
_AFTER_SECONDS = 1.0  # for pipes that a grandchild may hold open
_SUBREAPER, _DEATH_SIGNAL = 36, 1
_MEBIBYTE = 1024 * 1024


class Limits(NamedTuple):
    """
    What a job may use: wall-clock seconds, and memory beyond that of the warm process, in MiB.

    `reserves`: it may ask for addresses without memory, as drivers of GPUs do, which take those of all memory there is.
    """

    seconds: float
    memory: int
    reserves: bool = False


def limits_of(order: Dict[str, Any]) -> Limits:
    """Return the limits of an order."""
    return Limits(order["seconds"], order["memory"], order["device"] == "cuda")


class Ending(NamedTuple):
    """How a job ended: `trouble` is why it did not end by itself; `written` are its records, `printed` its output."""

    trouble: str
    written: bytes
    printed: bytes


def adopt_orphans() -> None:
    """Become the parent of grandchildren whose own parents ended; only Linux can."""
    _prctl(_SUBREAPER, 1)


def guarded(
    work: Callable[[int], None], limits: Limits, owner: int, private: Sequence[int], spared: Container[int] = ()
) -> Ending:
    """
    Run `work` in a child, which writes its records to the descriptor it is given.

    `owner` has something to read, its end at least, when nobody waits any more; `private` are closed in the child.
    """
    watch = begun(work, limits, private)
    try:
        trouble = watch.wait(limits, owner)
    finally:
        watch.end()
        kill_orphans(spared)
        watch.drain()
    return Ending(trouble, watch.written, watch.printed)


def begun(work: Callable[[int], None], limits: Limits, private: Sequence[int], most: int = _MOST_WRITTEN) -> Watch:
    """
    Start `work` in a child, which writes its records to the descriptor it is given; `private` are closed in it.

    Units: `most` bytes of records are kept.
    """
    records, writing = os.pipe()
    printed, printing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        for pipe in (records, printed, *private):
            os.close(pipe)
        _become(limits, printing)
        _finish(work, writing)
    os.close(writing)
    os.close(printing)
    with contextlib.suppress(OSError):  # the child may have done it, or have ended
        os.setpgid(child, child)
    return Watch(child, {records: most, printed: _KEPT})


class Watch:
    """One child: the pipes that it writes to, and what it uses."""

    def __init__(self, child: int, most: Dict[int, int]) -> None:
        self.child, self._most = child, most
        self._records, self._printed = most
        self._texts = {pipe: bytearray() for pipe in most}
        self._open: Set[int] = set(most)
        self._status: Optional[int] = None

    @property
    def written(self) -> bytes:
        """Return the records so far."""
        return bytes(self._texts[self._records])

    @property
    def printed(self) -> bytes:
        """Return what was printed so far."""
        return bytes(self._texts[self._printed])

    def forget(self) -> None:
        """Drop what was written and printed so far."""
        for text in self._texts.values():
            text.clear()

    def wait(self, limits: Limits, owner: int, until: Callable[[bytes], bool] = lambda _: False) -> str:
        """
        Read what the child writes until it ends, or has written what `until` waits for.

        Returned is why it must be ended, or how it died, if it did not end well; a limit of 0 MiB is none.
        """
        end = time.monotonic() + limits.seconds
        before = _resident([os.getpid()])
        while self._status is None:
            if self._read([owner], _POLL_SECONDS):
                return "no longer needed"
            if until(self.written):
                return ""
            if time.monotonic() > end:
                return "took longer than %g s" % limits.seconds
            if limits.memory and _resident(_members(self.child)) - before > limits.memory * _MEBIBYTE:
                return "used more than %d MB of memory" % limits.memory
            self._look()
        return _death(self._status)

    def end(self) -> None:
        """Kill the child and its group, if they have not ended."""
        _kill_group(self.child)
        if self._status is None:
            self._status = os.waitpid(self.child, 0)[1]

    def _look(self) -> None:
        pid, status = os.waitpid(self.child, os.WNOHANG)
        if pid:
            self._status = status

    def _read(self, others: List[int], seconds: float) -> bool:
        """Read what is there; return whether one of the others can be read."""
        ready, _, _ = select.select([*self._open, *others], [], [], seconds)
        for pipe in self._open.intersection(ready):
            data = os.read(pipe, 65536)
            if not data:
                self._open.discard(pipe)
            elif len(self._texts[pipe]) < self._most[pipe]:
                self._texts[pipe] += data
        return any(other in ready for other in others)

    def drain(self) -> None:
        """Read what is left in the pipes, and close them."""
        end = time.monotonic() + _AFTER_SECONDS
        while self._open and time.monotonic() < end:
            self._read([], _POLL_SECONDS)
        for pipe in self._texts:
            os.close(pipe)


def _become(limits: Limits, printing: int) -> None:
    """Make this process a job: a group of its own, no input, its output in a pipe, limits that it cannot lift."""
    os.setpgid(0, 0)
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, stream in ((nothing, 0), (printing, 1), (printing, 2)):
        os.dup2(source, stream)
    os.close(nothing)
    os.close(printing)
    _limit(limits)


def _limit(limits: Limits) -> None:
    import resource  # noqa: PLC0415 - not on every system, but where `fork` is

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = _virtual()
    if used and limits.memory and not limits.reserves:
        most = used + limits.memory * _MEBIBYTE
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _finish(work: Callable[[int], None], records: int) -> None:
    """Do the work and end without the interpreter's own end: a program's threads and handlers are not waited for."""
    error = attempt(lambda: work(records)).error
    with contextlib.suppress(OSError, ValueError, AttributeError):  # the program may have closed its streams
        if error is not None:
            traceback.print_exception(type(error), error, error.__traceback__)
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0 if error is None else 1)


def _death(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        names = {int(item): item.name for item in signal.Signals}
        return "killed by %s" % names.get(number, "signal %d" % number)
    return "" if os.WEXITSTATUS(status) == 0 else "ended with status %d before it was done" % os.WEXITSTATUS(status)


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # all of it has ended
        os.killpg(group, signal.SIGKILL)


def kill_orphans(spared: Container[int] = ()) -> None:
    """Kill the children of this process, orphans that it adopted included, until none is left but those `spared`."""
    while True:
        orphans = [pid for pid in children() if pid not in spared]
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):  # it has gone to another parent
                os.waitpid(pid, 0)
        if not orphans:
            return


def children() -> List[int]:
    """Return the processes that this one started or adopted."""
    return [pid for pid, above, _ in _processes() if above == os.getpid()]


def _members(group: int) -> List[int]:
    """Return the processes of a group and all their descendants."""
    every = list(_processes())
    found = {pid for pid, _, own in every if group in {own, pid}}
    while True:
        more = {pid for pid, above, _ in every if above in found} - found
        if not more:
            return sorted(found)
        found |= more


def _processes() -> List[Tuple[int, int, int]]:
    """Return the number, the parent and the group of each process; none where the system has no such files."""
    found: List[Tuple[int, int, int]] = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdigit():
            text = _text("/proc/%s/stat" % name)
            fields = text.rpartition(")")[2].split()
            if len(fields) > 2:  # noqa: PLR2004 - state, parent, group
                found.append((int(name), int(fields[1]), int(fields[2])))
    return found


def _resident(pids: List[int]) -> int:
    """Return the bytes of memory that processes have for themselves or share."""
    pages = [_text("/proc/%d/statm" % pid).split() for pid in pids]
    return sum(int(fields[1]) for fields in pages if fields) * os.sysconf("SC_PAGE_SIZE")


def _virtual() -> int:
    fields = _text("/proc/self/statm").split()
    return int(fields[0]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def _text(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:  # a process that has just ended
        return ""


def _prctl(option: int, value: int) -> None:
    """Set an option of this process on Linux; other systems have no such thing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, int(value), 0, 0, 0)
