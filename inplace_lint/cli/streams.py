"""
Standard streams and interrupts, in any state a process may start in: closed or full streams, a deleted working folder.

A reader may close our output when it has seen enough; that is no error and does not change the exit status.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Iterator
from typing import IO

from inplace_lint.core.errors import InplaceLintError

_STREAMS = ("stdin", "stdout", "stderr")
# What is read cannot be written and the other way round, so that use of a closed stream fails; stderr takes all.
_FLAGS = (os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)
_WHEN_WRITTEN = {getattr(errno, name) for name in ("EBADF", "EDQUOT", "EFBIG", "EIO", "ENOSPC") if hasattr(errno, name)}


def prepare() -> None:
    """Open the streams that are closed, and make characters that a stream cannot encode no error."""
    for number, name in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            setattr(sys, name, _closed(number))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a C locale must not end a run over a name in Chinese


def _closed(number: int) -> IO[str]:
    """Return a stream in place of a closed one; the number of that must not go to a file that is opened later."""
    handle = os.open(os.devnull, _FLAGS[number])
    if handle > number and not _is_open(number):
        os.dup2(handle, number)
        os.close(handle)
        handle = number
    return open(handle, "w" if number else "r", encoding="utf-8")  # noqa: PTH123 - lives as long as the process


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def read() -> bytes:
    """
    Return all of standard input.

    Raises: `InplaceLintError` where it cannot be read.
    """
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        msg = f"standard input {_reason(error)}"
        raise InplaceLintError(msg) from error


def write(stream: IO[str], text: str) -> None:
    """Write a text at once, or as much of it as is read; what stderr does not take is lost."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
            raise
        mute(stream)


def write_bytes(data: bytes) -> None:
    """Write bytes to stdout as they are, where it can take them."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        write(sys.stdout, data.decode("utf-8", "backslashreplace"))
        return
    try:
        buffer.write(data)
        buffer.flush()
    except BrokenPipeError:
        mute(sys.stdout)


def write_error(line: str) -> None:
    """Write a line to stderr."""
    write(sys.stderr, f"{line}\n")


def mute(stream: IO[str]) -> None:
    """Redirect a stream to nowhere; Python would report a broken one again when it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Block Ctrl-C until the end of a `with` block, where it then counts."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def describe(error: OSError) -> str:
    """Return what is wrong with stdout or the working folder, empty for another error: one about a file names it."""
    if error.filename is not None:
        return ""
    if isinstance(error, FileNotFoundError):
        return "the working folder does not exist any more"
    if error.errno not in _WHEN_WRITTEN:
        return ""
    mute(sys.stdout)
    return f"standard output {_reason(error)}"


def _reason(error: OSError) -> str:
    return "is closed" if error.errno == errno.EBADF else f"failed: {(error.strerror or 'error').lower()}"
