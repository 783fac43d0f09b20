"""
Runs of the command line that are forked from one process, which has imported the tool already.

Each run is a process of its own, with the words, folder, environment and streams that it is given; only the start of
the interpreter and the imports, most of the time of a short run, are shared. A run that depends on these starts from
nothing: see `can_fork`.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

from inplace_lint.knowledge import facts, locate

ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 1500
# What CPython reads before the first line of a program runs, and cannot be changed later.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_")
_PLACES = "PYTHONPATH"
_READ_LATER = frozenset({_PLACES, "PYTHONBREAKPOINT"})  # Ray sets the second one in a process that it is used in


class Ran(NamedTuple):
    status: int
    out: str
    err: str


def run(words: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: bytes = b"") -> Ran:
    """Run `inplace-lint` with some words in a folder, in a process of its own."""
    if can_fork(environment):
        return _server().run(words, folder, environment, stdin)
    done = subprocess.run(
        [sys.executable, "-m", "inplace_lint", *words],
        cwd=folder,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=_SECONDS,
        env=environment,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def usual_environment() -> dict[str, str]:
    """Return the environment of a run that wishes for nothing particular: that of the tests without their terminal."""
    inherited = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    path = os.pathsep.join(part for part in (str(ROOT), os.environ.get("PYTHONPATH")) if part)
    return {**inherited, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}


def can_fork(environment: Mapping[str, str]) -> bool:
    """
    Say whether a run in an environment starts as the server did; see `pool.py` for why this is for Linux alone.

    It may look for modules in more places than the server, after those of the server.
    """
    if sys.platform != "linux":
        return False
    usual = _server().environment
    return _at_start(environment) == _at_start(usual) and (
        environment.get(_PLACES) == usual[_PLACES]
        or environment.get(_PLACES, "").startswith(f"{usual[_PLACES]}{os.pathsep}")
    )


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        key: value for key, value in environment.items() if key.startswith(_READ_AT_START) and key not in _READ_LATER
    }


@cache
def _server() -> _Server:
    return _Server()


class _Server:
    """The process that forks; it ends when this one does."""

    def __init__(self) -> None:
        self.environment = usual_environment()
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.settimeout(_SECONDS)
        command = [sys.executable, "-m", "tests.cli.forked", str(theirs.fileno())]
        handles = (theirs.fileno(),)
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, pass_fds=handles
        )
        theirs.close()
        atexit.register(self._stop)

    def _stop(self) -> None:
        self._ours.close()
        self._process.wait()

    def run(self, words: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: bytes) -> Ran:
        """Run the command line in a fork of the server."""
        with (
            tempfile.TemporaryFile() as order,
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            order.write(json.dumps([list(words), str(folder), dict(environment)]).encode())
            given.write(stdin)
            for file in (order, given):
                file.seek(0)
            socket.send_fds(self._ours, [b"run"], [file.fileno() for file in (order, given, out, err)])
            answer = self._ours.recv(64)
            assert answer, "the process that forks has ended"
            return Ran(int(answer), _text(out), _text(err))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def main(connection: socket.socket) -> int:
    """Answer each order with the exit status of a fork; in a fork, run the command line."""
    import_the_tool()
    while True:
        word, handles, _, _ = socket.recv_fds(connection, 64, 4)
        if not word:
            return 0
        child = os.fork()
        if not child:
            connection.close()
            end(_as_ordered(*handles))
        answer(connection, child, handles)


def answer(connection: socket.socket, child: int, handles: Sequence[int]) -> None:
    """Close the handles that a fork was given, and send its exit status once it has ended."""
    for handle in handles:
        os.close(handle)
    _, status = os.waitpid(child, 0)
    connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def end(status: int) -> NoReturn:
    """End a fork as the interpreter ends, but for what would write to each page of its memory: to free all objects."""
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - it waits for threads
    atexit._run_exitfuncs()  # noqa: SLF001
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def become(folder: str, environment: Mapping[str, str], streams: Sequence[int]) -> None:
    """Take the folder, the environment and the standard streams of a run."""
    for number, handle in enumerate(streams):
        os.dup2(handle, number)
        os.close(handle)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)


def import_the_tool() -> None:
    """Import what a check, a fix and a report import, and read the tables; nothing else of these is run."""
    for name in ("cli", "driver", "fix", "frontend", "interp", "live.confirm", "policy", "report", "rules"):
        package = importlib.import_module(f"inplace_lint.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in ("rich.console", "rich.progress", "rich.syntax", "rich.text"):
        importlib.import_module(name)
    for name in facts.frameworks():
        assert facts.tables(name).rows
    locate.digest_of_code()
    gc.freeze()  # a collection in a fork would copy all pages


def _as_ordered(order: int, *streams: int) -> int:
    with open(order, "rb") as file:
        words, folder, environment = json.load(file)
    usual = os.environ[_PLACES]
    become(folder, environment, streams)
    sys.path[0] = folder
    if more := environment[_PLACES].removeprefix(usual).removeprefix(os.pathsep):
        behind = next(at for at, place in enumerate(sys.path) if at and place not in usual.split(os.pathsep))
        sys.path[behind:behind] = more.split(os.pathsep)
    sys.argv[1:] = words
    return importlib.import_module("inplace_lint.__main__").main()


if __name__ == "__main__":
    sys.exit(main(socket.socket(fileno=int(sys.argv[1]))))
