"""
An interpreter that has imported its framework already, for tests that run programs on one, or the tool itself.

`python()` is a program that is given to `--python`. What starts the process for jobs is forked from a server that has
imported that framework, and so is, with `python("torch")` or `python("tool")`, each file that is run; all else is the
interpreter of the tests. A test of how processes start or end takes `sys.executable` itself.

All processes of a run of the tests have one server for each of them. The first of them that asks starts it, and it
ends with the run: see `tests/once.py`.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests import once
from tests.cli import forked

_IMPORTED = {  # with what each optimizer imports, and what answers an editor
    "torch": ("torch", "torch._dynamo"),
    "paddle": ("paddle",),
    "tool": ("pygls.lsp.server", "inplace_lint.server.serving"),
}
_JOBS = ("confirm_main", "cpu")  # the words around the name of the framework
_LARGEST = 1 << 20
_STARTED: list[subprocess.Popen[bytes]] = []
_STREAMS = 3
_ASKING = """\
#!{real} -IS
import json, os, signal, socket, sys
words = sys.argv[1:]
framework = words[2] if len(words) == 4 and (words[1], words[3]) == {jobs} else ""
if words[0].endswith(".py"):
    framework = framework or os.path.basename(__file__).partition("-")[2]
if framework:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.connect(os.path.join(os.path.dirname(os.path.realpath(__file__)), framework))
    socket.send_fds(server, [json.dumps([words, os.getcwd(), dict(os.environ)]).encode()], [0, 1, 2])
    status = int(server.recv(64) or 1)
    if status < 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)
os.execv({real!r}, [{real!r}, *words])
"""


def python(framework: str = "") -> str:
    """Return the path of the interpreter: one that runs files where a `framework` is, or one that does jobs of any."""
    if sys.platform != "linux":
        return sys.executable
    return str(_servers() / f"python-{framework}".removesuffix("-"))


@cache
def _servers() -> Path:
    """Return the folder of the interpreters, whose servers are started where no process of this run has done so."""
    run = once.folder()
    folder = run / "imported"
    with (run / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()
            _start(folder, run / once.ALIVE)
    return folder


def _start(folder: Path, alive: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3", "PYTHONDONTWRITEBYTECODE": "1"}
    for framework in _IMPORTED:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(str(folder / framework))
        listener.listen()
        handle = listener.fileno()
        command = [sys.executable, "-m", "tests.live.imported", framework, str(handle), str(alive)]
        _STARTED.append(
            subprocess.Popen(
                command,
                cwd=forked.ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment,
                pass_fds=[handle],
                start_new_session=True,
            )
        )
        listener.close()
    for path in (folder / "python", *(folder / f"python-{framework}" for framework in _IMPORTED)):
        path.write_text(_ASKING.format(real=sys.executable, jobs=_JOBS), encoding="utf-8")
        path.chmod(0o755)


def _serve(framework: str, listener: socket.socket, alive: int) -> None:
    """Answer each order with the exit status of a fork, until the run of the tests ends; import on the first one."""
    while True:
        ready, _, _ = select.select([listener.fileno(), alive], [], [])
        if alive in ready:
            return
        for name in _IMPORTED[framework]:
            importlib.import_module(name)
        if framework == "tool":
            forked.import_the_tool()
        gc.freeze()  # a collection in a fork would copy all pages
        connection, _ = listener.accept()
        if not os.fork():
            listener.close()
            _answer(connection)
            os._exit(0)
        connection.close()
        _reap()


def _reap() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                return
        except ChildProcessError:
            return


def _answer(connection: socket.socket) -> None:
    message, handles, _, _ = socket.recv_fds(connection, _LARGEST, _STREAMS)
    child = os.fork()
    if not child:
        connection.close()
        os._exit(_run(message, handles))
    ended = os.pidfd_open(child)
    if ended not in select.select([ended, connection], [], [])[0]:
        os.kill(child, signal.SIGKILL)  # who asked was killed
    with contextlib.suppress(BrokenPipeError):
        forked.answer(connection, child, handles)


def _run(order: bytes, handles: list[int]) -> int:
    """Run a file as the interpreter would: with its words, folder, environment and streams, in a session of its own."""
    words, folder, environment = json.loads(order)
    os.setsid()
    forked.become(folder, environment, handles)
    sys.stdin = os.fdopen(0, closefd=False, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", closefd=False, encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", 1, closefd=False, encoding="utf-8", errors="backslashreplace")
    named = [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.path[:] = [str(Path(words[0]).parent), *named, *(part for part in sys.path[1:] if part not in named)]
    sys.argv = words
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException as error:  # noqa: BLE001 - what a watched program raises ends it, as it ends the interpreter
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    finally:
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])), os.open(sys.argv[3], os.O_RDONLY | os.O_NONBLOCK))
