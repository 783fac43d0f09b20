"""A real Ray of this machine: the findings of local processes, and one line for what goes wrong."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from inplace_lint.core.errors import InplaceLintError
from inplace_lint.driver.executors.executor import Lost
from inplace_lint.driver.executors.ray_cluster import RayCluster
from tests.cli.forked import can_fork, usual_environment

real = pytest.mark.ray
RAY = ("--executor", "ray", "-j", "2")


@pytest.fixture(scope="module")
def cluster():
    """Return a Ray of two processes, for the functions of this process."""
    yield RayCluster(jobs=2)
    import ray  # noqa: PLC0415 - skipped where it is not installed

    ray.shutdown()


@pytest.fixture
def joined(cluster):
    """Return the words for a run on that Ray, which spares it to start one."""
    import ray  # noqa: PLC0415 - skipped where it is not installed

    # What is asked of a Ray that does not run yet would look for one of another process, which may be about to end.
    assert dict(cluster.run_all(len, [""])) == {0: 0}
    return ("--executor", "ray", "--ray-address", ray.get_runtime_context().gcs_address)


def test_later_runs_in_a_process_of_ray_are_forked_as_before():
    assert can_fork({**usual_environment(), "PYTHONBREAKPOINT": "ray.util.rpdb._driver_set_trace"})


# -- what there is without Ray -----------------------------------------------------------------------------------------


def without_ray(folder):
    place = folder / "no_ray"
    place.mkdir()
    (place / "ray.py").write_text("raise ModuleNotFoundError('No module named ray', name='ray')\n")
    return f"{place}{os.pathsep}{usual_environment()['PYTHONPATH']}"


def test_ray_that_is_not_installed_is_one_line_and_nothing_else_needs_it(lint, project):
    path = without_ray(project)
    assert lint("--no-cache", *RAY, ".", PYTHONPATH=path) == (
        2, "", "error: `--executor ray` needs `ray`: `pip install 'inplace-lint[ray]'`\n"
    )  # fmt: skip
    (project / "list.txt").write_text("pkg\n")
    assert lint("fleet", "list.txt", *RAY, PYTHONPATH=path).err.startswith("error: `--executor ray` needs `ray`")
    assert lint("--no-cache", "--output-format=json", "pkg", PYTHONPATH=path).status == 1


def test_an_address_without_ray_is_refused(lint, project):
    assert lint("--ray-address", "auto", ".").err == "error: `--ray-address` can only be used with `--executor ray`\n"


# -- addresses ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def web():
    """Return the address of something that answers and is no Ray."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@real
@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("127.0.0.1:1", "no Ray cluster at '127.0.0.1:1': connection refused"),
        ("ray://127.0.0.1:1", "no Ray cluster at 'ray://127.0.0.1:1': connection refused"),
        ("nowhere.invalid:6379", "no Ray cluster at 'nowhere.invalid:6379': "),
        ("here", "--ray-address must be HOST:PORT, ray://HOST:PORT, auto or local, not 'here'"),
        ("a:b", "--ray-address must be HOST:PORT, ray://HOST:PORT, auto or local, not 'a:b'"),
    ],
)
def test_an_address_that_nothing_answers_at_is_one_line(lint, project, address, line):
    ran = lint("--no-cache", *RAY, "--ray-address", address, ".")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"error: {line}")


@real
def test_what_answers_and_is_no_ray_is_one_line_in_reasonable_time(lint, project, web):
    started = time.monotonic()
    ran = lint("--no-cache", *RAY, "--ray-address", web, ".")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"error: no Ray cluster at '{web}': what answers there is not a cluster, or requires a token\n"
    assert time.monotonic() - started < 60


# -- results -----------------------------------------------------------------------------------------------------------


@real
def test_a_run_says_what_local_processes_say(lint, project):
    words = ("--no-cache", "--assume", "unknown", "--output-format", "json", ".")
    assert lint(*words, *RAY) == lint(*words)


@real
def test_the_store_is_written_here(lint, project, joined):
    """The second run has nothing to send, so that it needs no cluster."""
    first = lint(*joined, "--output-format", "json", "pkg", "script.py")
    assert first.status == 1
    assert lint(*RAY, "--ray-address", "127.0.0.1:1", "--output-format", "json", "pkg", "script.py") == first
    (project / "script.py").write_text("import torch\n\nx = torch.ones(3)\n")
    assert lint(*RAY, "--ray-address", "127.0.0.1:1", ".").status == 2
    assert len(json.loads(lint("--output-format", "json", "pkg").out)) == len(json.loads(first.out)) - 1


@real
def test_fixes_are_made_as_by_local_processes(lint, project, joined):
    shutil.copytree(project, project / "other")
    local, there = (lint("--no-cache", "--fix", *words, cwd) for words, cwd in (((), "pkg"), (joined, "other/pkg")))
    assert (local.status, there.status) == (1, 1)
    texts = [sorted(path.read_text() for path in (project / place).rglob("*.py")) for place in ("pkg", "other/pkg")]
    assert texts[0] == texts[1]


@real
def test_a_fleet_is_that_of_local_processes(lint, project, joined):
    own = project / "own"
    shutil.copytree(project / "pkg", own / "pkg")
    shutil.make_archive(str(project / "packed"), "gztar", own)
    (project / "list.txt").write_text("own\npacked.tar.gz\ngone\n")
    local, there = lint("fleet", "list.txt", "-o", "a"), lint("fleet", "list.txt", "-o", "b", *joined)
    assert (local.status, there.status) == (2, 2)
    assert local.err == there.err
    texts = [[path.read_text() for path in sorted((project / out).glob("*/findings.json"))] for out in "ab"]
    assert texts[0] == texts[1]
    assert len(texts[0][1]) > 3


# -- faults ------------------------------------------------------------------------------------------------------------


@real
def test_a_task_whose_process_died_is_done_by_another_one(cluster, tmp_path):
    def once(task):
        mark = tmp_path / str(task)
        if task % 5 == 0 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return task * task

    assert dict(cluster.run_all(once, range(23))) == {task: task * task for task in range(23)}
    assert len(list(tmp_path.iterdir())) == 5


@real
def test_a_task_that_ends_each_process_is_lost_and_no_other(cluster):
    def die(task):
        if task == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return -task

    found = dict(cluster.run_all(die, range(8)))
    assert found.pop(3) == Lost("ended without an answer")
    assert found == {task: -task for task in range(8) if task != 3}


@real
def test_work_that_raises_is_lost_with_its_reason(cluster):
    def fail(task):
        msg = f"no {task}"
        raise ValueError(msg)

    assert dict(cluster.run_all(fail, [7])) == {0: Lost("failed: ValueError: no 7")}


@real
def test_workers_without_the_tool_are_one_line(cluster):
    def lacks(task):
        raise ModuleNotFoundError("No module named 'inplace_lint'")  # noqa: EM101, TRY003

    with pytest.raises(InplaceLintError, match="the workers of the Ray cluster have no inplace-lint"):
        dict(cluster.run_all(lacks, [7]))


@real
def test_the_work_is_unpickled_once_in_a_process(cluster):
    class Work:
        def __init__(self):
            self.restored = 0

        def __setstate__(self, state):
            self.restored = os.urandom(8)

        def __call__(self, _task):
            return os.getpid(), self.restored

    answers = set(dict(cluster.run_all(Work(), range(40))).values())
    assert len(answers) == len({process for process, _ in answers})


@real
def test_leaving_early_ends_what_runs(cluster):
    def nap(task):
        time.sleep(task)
        return task

    results = cluster.run_all(nap, [0, 60, 60, 60])
    assert next(results) == (0, 0)
    results.close()
    started = time.monotonic()
    assert dict(cluster.run_all(nap, [0])) == {0: 0}
    assert time.monotonic() - started < 30


@real
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupted_fleet_goes_on_where_it_was(lint, project, joined):
    shutil.copytree(project / "pkg", project / "own" / "pkg")
    big = "import torch\n" + "".join(
        f"def f{at}(x):\n    x = x.exp()\n    x += {at}\n    return x\n" for at in range(40)
    )
    for number in range(6):
        (project / f"big{number}").mkdir()
        (project / f"big{number}" / "a.py").write_text(big)
    (project / "list.txt").write_text("own\n" + "".join(f"big{number}\n" for number in range(6)))
    command = [sys.executable, "-m", "inplace_lint", "fleet", "list.txt", "-o", "out", "--executor", "ray", "-j", "1"]
    process = subprocess.Popen(command, cwd=project, env=usual_environment(), stderr=subprocess.PIPE, text=True)
    while not list((project / "out").glob("*/summary.json")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert (process.communicate(timeout=120)[1].strip(), process.returncode) == ("interrupted", 130)
    done = {path: path.stat().st_mtime_ns for path in (project / "out").glob("*/summary.json")}
    assert 0 < len(done) < 7
    assert lint("fleet", "list.txt", "-o", "out", *joined).status == 1
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert lint("fleet", "list.txt", "-o", "whole", "-j", "1").status == 1
    texts = [[path.read_text() for path in sorted((project / out).glob("*/f*.json"))] for out in ("out", "whole")]
    assert texts[0] == texts[1]


def _processes():
    """Return the processes of this machine: the number of each, that of its parent, and its words."""
    rows = subprocess.run(["ps", "-eo", "pid,ppid,args"], check=True, capture_output=True, text=True).stdout
    return [
        (int(pid), int(parent), args) for pid, parent, args in (row.split(None, 2) for row in rows.splitlines()[1:])
    ]


def _once(found):
    """Return what a function finds once it finds something, within a minute or two."""
    until = time.monotonic() + 120
    while not (value := found()) and time.monotonic() < until:
        time.sleep(0.05)
    assert value
    return value


def _part_of(pid, name):
    """Return the raylet, or another process of Ray, of the process that talks to it for a run; None for none."""
    found = _processes()
    own = {one for one, parent, _ in found if parent == pid}
    return next((one for one, parent, args in found if parent in own and args.split()[0].endswith(name)), None)


def _works(raylet):
    """Return whether a worker of a raylet is at a task: Ray names the process after it."""
    return any(parent == raylet and args.startswith("ray::_run") for _, parent, args in _processes())


def _killed(project, name, seconds=None):
    """Start a run, kill a process of its Ray so long after it is there, or once a task runs, and return the run."""
    words = [sys.executable, "-m", "inplace_lint", "--no-cache", *RAY, "."]
    run = subprocess.Popen(
        words, cwd=project, env=usual_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    found = _once(lambda: _part_of(run.pid, name))
    if seconds is None:
        _once(lambda: _works(found))
    else:
        time.sleep(seconds)
    os.kill(found, signal.SIGKILL)
    return run


@real
def test_a_raylet_that_is_killed_in_mid_run_is_one_line(project):
    body = "def f{0}(x):\n    h = x.sigmoid()\n    h += {0}\n    return h\n"
    for number in range(60):
        (project / f"m{number}.py").write_text("import torch\n" + "".join(map(body.format, range(300))))
    run = _killed(project, "raylet")
    _, told = run.communicate(timeout=60)
    assert (run.returncode, told) == (2, "error: Ray ended before the run did: its process `raylet` is gone\n")


@real
def test_a_ray_that_dies_while_it_starts_is_one_line(project):
    """The runs end side by side, as each of them waits for its Ray for some time."""
    deaths = (("raylet", 0), ("gcs_server", 0), ("gcs_server", 0.3), ("gcs_server", 2))
    for run in [_killed(project, name, seconds) for name, seconds in deaths]:
        _, told = run.communicate(timeout=120)
        assert (run.returncode, told.count("\n"), told.startswith("error: ")) == (2, 1, True)
        assert "Ray" in told


# -- a cluster that runs before and goes on after ---------------------------------------------------------------------


@pytest.fixture
def attached():
    """Return a cluster of two nodes, of one processor each, that others have started."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - skipped where it is not installed

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    yield cluster
    cluster.shutdown()


def _begun(project, cluster, files=60, functions=300):
    """Write many files, and begin to check them on a cluster; return the process once each node is at a task."""
    body = "def f{0}(x):\n    h = x.sigmoid()\n    h += {0}\n    return h\n"
    for number in range(files):
        (project / f"m{number}.py").write_text("import torch\n" + "".join(map(body.format, range(functions))))
    words = [sys.executable, "-m", "inplace_lint", "--no-cache", "--executor", "ray", "--ray-address", cluster.address]
    run = subprocess.Popen(
        [*words, "--output-format", "json", "."], cwd=project, env=usual_environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for node in (cluster.head_node, *cluster.worker_nodes):
        (raylet,) = node.all_processes["raylet"]
        _once(lambda pid=raylet.process.pid: _works(pid))
    assert run.poll() is None
    return run


@real
def test_a_node_of_a_cluster_that_dies_costs_no_finding(project, attached, lint):
    run = _begun(project, attached, files=12, functions=80)
    (other,) = attached.worker_nodes
    attached.remove_node(other, allow_graceful=False)
    out, told = run.communicate(timeout=300)
    assert (run.returncode, out, told) == lint("--no-cache", "--output-format", "json", ".")


@real
@pytest.mark.slow
@pytest.mark.parametrize("name", ["raylet", "gcs_server"])
def test_a_cluster_that_is_killed_in_mid_run_is_one_line(project, attached, name):
    run = _begun(project, attached)
    (dying,) = attached.head_node.all_processes[name]
    dying.process.kill()
    _, told = run.communicate(timeout=120)
    assert (run.returncode, told.count("\n")) == (2, 1)
    assert told.startswith("error: Ray ended before the run did: ")
