"""
Runs tasks on a Ray cluster, or on a Ray of this machine alone. Ray is an extra, and imported here only.

The work is put into the object store once, from where each machine takes it once; a process of a machine unpickles it
once. Tasks are sent one by one, two for each processor, so that none waits for the way of the next.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from inplace_lint.core.errors import InplaceLintError
from inplace_lint.driver.executors.executor import Lost, Result, Task, cpus, waiting

LOCAL = "local"
_CONNECT_SECONDS = 10
_CLIENT = "ray://"
_AHEAD = 2
_LOOK_SECONDS = 1
_NEEDED = ("raylet", "gcs_server")  # a Ray without one of these ends the processes that are connected to it
_FEWEST = 8  # a cluster may start with no worker, and add them when tasks wait


class RayCluster(Struct, frozen=True):
    """
    Runs tasks on the Ray cluster at an address: `HOST:PORT`, `ray://HOST:PORT`, `auto`, or `local` for a new one here.

    At most `jobs` tasks run at a time, where that is not 0. See `Executor`.
    """

    address: str = LOCAL
    jobs: int = 0
    shares_files: bool = False

    def run_all(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result | Lost]]:
        """
        Yield the index and the result of every task, in the order in which they finish.

        Raises: `InplaceLintError` where Ray is not installed, where nothing answers at the address within seconds,
        where workers have no inplace-lint, and where the cluster ends before the tasks do.
        """
        ray = _connected(self.address, self.jobs)
        run = ray.remote(num_cpus=1, max_retries=0)(_run)
        sent = ray.put(work)
        left, running = waiting(tasks), dict[Any, int]()
        try:
            while left or running:
                _check_runs(ray)
                most = self.jobs or max(_AHEAD * int(ray.cluster_resources().get("CPU", 0)), _FEWEST)
                while left and len(running) < most:
                    number = left.next()
                    running[run.remote([sent], tasks[number])] = number
                for ready in ray.wait(list(running), timeout=_LOOK_SECONDS)[0]:
                    number, answer = running.pop(ready), _answer(ray, ready)
                    if not left.retried(number, answer):
                        yield number, answer
        except ray.exceptions.RayError as error:
            _check_runs(ray)
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
            msg = f"Ray ended before the run did: {reason}"
            raise InplaceLintError(msg) from error
        finally:
            if running:  # left early; to cancel a task that is about to start can abort this process (Ray 2.60)
                ray.shutdown()


def _run(work: list[Any], task: Any) -> Any:  # noqa: ANN401 - any work
    """Do the work, which is an object of the cluster, on a task; this runs in a process of a worker."""
    return _fetched(work[0])(task)


@lru_cache(maxsize=1)
def _fetched(work: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - an object of the cluster
    found: Callable[[Any], Any] = importlib.import_module("ray").get(work)
    return found


def _answer(ray: Any, ready: Any) -> Any:  # noqa: ANN401 - results of any work
    errors = ray.exceptions
    try:
        return ray.get(ready)
    except (errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError):
        return Lost("ended without an answer")
    except errors.OutOfMemoryError:
        return Lost("was ended by Ray, since its machine ran out of memory")
    except errors.RayError as error:
        text = str(error)
        if f"No module named '{__package__.partition('.')[0]}" in text:
            msg = "the workers of the Ray cluster have no inplace-lint: install this version of it there"
            raise InplaceLintError(msg) from error
        last = text.strip().splitlines()[-1:]
        return Lost(f"failed: {''.join(last)}")


def _check_runs(ray: Any) -> None:  # noqa: ANN401 - the module
    """Raise `InplaceLintError` where the Ray that this process is connected to has ended: it soon ends this process."""
    node = getattr(ray._private.worker, "_global_node", None)  # noqa: SLF001 - the one place that knows its processes
    dead = {name for name, _ in getattr(node, "dead_processes", list)()}
    gone = next((name for name in _NEEDED if name in dead), "") or _unreachable(node)
    if gone:
        msg = f"Ray ended before the run did: its process `{gone}` is gone"
        raise InplaceLintError(msg)


def _unreachable(node: Any) -> str:  # noqa: ANN401 - of Ray, or None for a client
    """Return the name of a process of a cluster that was there before that refuses connections; empty for none."""
    if not hasattr(socket, "AF_UNIX"):
        return ""
    host, _, port = str(getattr(node, "gcs_address", "")).rpartition(":")
    places: list[tuple[str, socket.AddressFamily, Any]] = [
        ("raylet", socket.AF_UNIX, str(getattr(node, "raylet_socket_name", "")).removeprefix("unix://"))
    ]
    if port.isdecimal():
        places.append(("gcs_server", socket.AF_INET6 if ":" in host else socket.AF_INET, (host.strip("[]"), int(port))))
    for name, family, place in places:
        with contextlib.suppress(TimeoutError, socket.gaierror), socket.socket(family, socket.SOCK_STREAM) as asked:
            asked.settimeout(_LOOK_SECONDS)
            try:
                if place:
                    asked.connect(place)
            except (ConnectionRefusedError, FileNotFoundError):
                return name
    return ""


def _connected(address: str, jobs: int) -> Any:  # noqa: ANN401 - the module
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # those of tasks that were cancelled
    if address == LOCAL:
        os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(_CONNECT_SECONDS))  # a minute without it
    try:
        ray: Any = importlib.import_module("ray")
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        msg = "`--executor ray` needs `ray`: `pip install 'inplace-lint[ray]'`"
        raise InplaceLintError(msg) from error
    if ray.is_initialized():
        return ray
    here: dict[str, Any] = {"num_cpus": jobs or cpus(), "include_dashboard": False} if address == LOCAL else {}
    _check_answers(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what goes wrong is told once, by the exception
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **here)
    except Exception as error:  # Ray raises the class itself where a process of its own dies while it starts
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        msg = f"no Ray cluster at {address!r}: {reason}"
        raise InplaceLintError(msg) from error
    return ray


def _check_answers(address: str) -> None:
    """Raise `InplaceLintError` where no machine answers at an address; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix(_CLIENT).rpartition(":")
    if address in {LOCAL, "auto"}:
        return
    if not (colon and host and port.isdecimal()):
        msg = f"--ray-address must be HOST:PORT, ray://HOST:PORT, auto or local, not {address!r}"
        raise InplaceLintError(msg)
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        if not address.startswith(_CLIENT):  # a client tries for thirty seconds itself
            asked = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
            subprocess.run(asked, capture_output=True, timeout=_CONNECT_SECONDS, check=True)  # noqa: S603 - our own words
    except subprocess.SubprocessError as error:
        msg = f"no Ray cluster at {address!r}: what answers there is not a cluster, or requires a token"
        raise InplaceLintError(msg) from error
    except (OSError, OverflowError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error) or "no answer").lower()
        msg = f"no Ray cluster at {address!r}: {reason}"
        raise InplaceLintError(msg) from error
