"""
An interpreter that has imported its framework already, for tests that start one for each program that they confirm.

`python()` is a program that is given to `--python`. What starts the process for jobs is forked from a server that has
imported that framework, and so is, with `python("torch")`, what probes an operator and what `trace` watches; all else
is the interpreter of the tests. A test of how processes start or end takes `sys.executable` itself.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests.cli import forked

_FRAMEWORKS = {"torch": ("torch", "torch._dynamo"), "paddle": ("paddle",)}  # with what each optimizer imports
_JOBS = ("confirm_main", "cpu")  # the words around the name of the framework
_LARGEST = 1 << 20
_STREAMS = 3
_ASKING = """\
#!{real} -IS
import json, os, signal, socket, sys
words = sys.argv[1:]
framework = words[2] if len(words) == 4 and (words[1], words[3]) == {jobs} else ""
if words[1:2] in (["probe_main"], ["run_main"]):
    framework = os.path.basename(__file__).partition("-")[2]
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
    """Return the path of the interpreter, for probes and programs of one `framework` too; its servers end with us."""
    if sys.platform != "linux":
        return sys.executable
    return str(_folder() / f"python-{framework}".removesuffix("-"))


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="imported-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3", "PYTHONDONTWRITEBYTECODE": "1"}
    for framework in _FRAMEWORKS:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(str(folder / framework))
        listener.listen()
        handle = listener.fileno()
        command = [sys.executable, "-m", "tests.live.imported", framework, str(handle)]
        server = subprocess.Popen(command, cwd=forked.ROOT, stdin=subprocess.PIPE, env=environment, pass_fds=[handle])
        listener.close()
        atexit.register(server.communicate)
    for path in (folder / "python", *(folder / f"python-{framework}" for framework in _FRAMEWORKS)):
        path.write_text(_ASKING.format(real=sys.executable, jobs=_JOBS), encoding="utf-8")
        path.chmod(0o755)
    return folder


def _serve(framework: str, listener: socket.socket) -> None:
    """Answer each order with the exit status of a fork, until the standard input ends; import on the first one."""
    while True:
        ready, _, _ = select.select([listener.fileno(), 0], [], [])
        if 0 in ready:
            return
        for name in _FRAMEWORKS[framework]:
            importlib.import_module(name)
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
    forked.answer(connection, child, handles)


def _run(order: bytes, handles: list[int]) -> int:
    """Run a file as the interpreter would: with its words, folder, environment and streams, in a session of its own."""
    words, folder, environment = json.loads(order)
    os.setsid()
    forked.become(folder, environment, handles)
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
    _serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
