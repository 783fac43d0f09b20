"""
What a process is given, in whatever state that is: standard streams that are closed or full, a folder that is gone.

Who reads our output may close it when he has seen enough; that is no fault, and changes no exit status.
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
    """Let all three streams be there, and let no letter that they cannot show end a run."""
    for number, name in enumerate(_STREAMS):
        if getattr(sys, name) is None:
            setattr(sys, name, _closed(number))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a C locale must not end a run over a name in Chinese


def _closed(number: int) -> IO[str]:
    """Give a stream for one that is closed; its number must not go to a file that is opened later."""
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
    Give all of standard input.

    Raises: `InplaceLintError` where it cannot be read.
    """
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        msg = f"standard input {_reason(error)}"
        raise InplaceLintError(msg) from error


def put(stream: IO[str], text: str) -> None:
    """Write a text at once, or as much of it as is read; what stderr does not take is lost."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
            raise
        mute(stream)


def put_bytes(data: bytes) -> None:
    """Write bytes to stdout as they are, where it can take them."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        put(sys.stdout, data.decode("utf-8", "backslashreplace"))
        return
    try:
        buffer.write(data)
        buffer.flush()
    except BrokenPipeError:
        mute(sys.stdout)


def tell(line: str) -> None:
    """Write a line to stderr."""
    put(sys.stderr, f"{line}\n")


def mute(stream: IO[str]) -> None:
    """Let a stream take all and show nothing; Python would complain once more when it closes a broken one."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the end of a block; it counts then."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def fault(error: OSError) -> str:
    """Say what is wrong with stdout or the working folder, if an error is about these; one about a file names it."""
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
