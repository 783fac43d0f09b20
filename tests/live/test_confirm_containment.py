"""What a program does while it is put to the proof stays within limits, and says no more than it can."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from inplace_lint.live.warm import Ran, Warm
from tests.live.proving import BLOCK

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="jobs are guarded by fork")


@pytest.fixture(scope="module")
def warm():
    process = Warm(sys.executable, "torch")
    yield process
    process.stop()


@pytest.fixture
def run(warm, tmp_path):
    def of(source: str, **limits: float) -> Ran:
        return execute(warm, tmp_path, source, **limits)

    return of


def execute(
    process: Warm, folder: Path, source: str, *, seconds: float = 20, memory: int = 2048, device: str = "cpu"
) -> Ran:
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    return process.run(
        {
            "framework": "torch",
            "path": str(path),
            "paths": [],
            "entry": {"kind": "module", "name": ""},
            "marks": [],
            "lines": [],
            "device": device,
            "seconds": seconds,
            "memory": memory,
        }
    )


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_program_that_ends_says_so(run):
    ran = run("print('hello')\n")
    assert (ran.problem, ran.printed) == ("", "hello\n")


def test_an_error_is_reported_with_its_line(run):
    assert run("x = 1\nraise ValueError('wrong')\n").problem == "ValueError: wrong (program.py:2)"


def test_leaving_is_no_harm(run):
    assert run("import sys\nsys.exit(3)\n").problem == "SystemExit: 3 (program.py:2)"


def test_leaving_at_once_is_reported(run):
    assert run("import os\nos._exit(7)\n").problem == "ended with status 7 before it was done"


def test_an_endless_loop_ends_with_the_time(run):
    started = time.monotonic()
    assert run("while True: pass\n", seconds=1).problem == "took longer than 1 s"
    assert time.monotonic() - started < 15


def test_a_program_that_ignores_signals_ends_with_the_time(run):
    source = "import signal\nfor n in (2, 15, 1): signal.signal(n, signal.SIG_IGN)\nwhile True: pass\n"
    assert run(source, seconds=1).problem == "took longer than 1 s"


def test_too_much_memory_at_once_is_refused(run):
    assert "memory" in run("import torch\ntorch.empty(100_000_000_000, dtype=torch.uint8)\n").problem.lower()


def test_too_much_memory_in_pieces_is_seen(run):
    source = "kept = []\nwhile True:\n    kept.append(bytearray(b'x') * 10_000_000)\n"
    assert "memory" in run(source, memory=300).problem.lower()


def test_memory_of_all_processes_counts(run):
    source = (
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        kept = bytearray(b'x') * 150_000_000\n"
        "        time.sleep(60)\ntime.sleep(60)\n"
    )
    assert run(source, memory=300).problem == "used more than 300 MB of memory"


def test_a_crash_is_reported_by_its_signal(run):
    assert run("import ctypes\nctypes.string_at(0)\n").problem == "killed by SIGSEGV"


@pytest.mark.skipif(sys.platform != "linux", reason="orphans come back on Linux only")
def test_what_a_program_leaves_behind_is_killed(run):
    ran = run(
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(300)\n"
        "    os._exit(0)\nos.wait()\nimport subprocess\n"
        "child = subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
    )
    assert ran.problem == ""
    assert not is_there(int(ran.printed))


def test_a_fork_in_the_program_tells_nothing_twice(run):
    assert run("import os\nif os.fork() == 0:\n    os._exit(0)\nos.wait()\n").problem == ""


def test_much_output_is_cut(run):
    assert len(run("print('x' * 1_000_000)\n").printed) < 200_000


def test_a_program_that_closes_everything_harms_only_itself(run):
    assert run("import os\nos.closerange(0, 256)\n").problem
    assert run("x = 1\n").problem == ""


def test_a_program_that_kills_its_guard_harms_only_itself(run):
    assert run("import os\nos.kill(os.getppid(), 9)\nimport time\ntime.sleep(30)\n").problem
    assert run("x = 1\n").problem == ""


def test_an_interpreter_without_the_framework_is_reported(tmp_path):
    empty = tmp_path / "python"
    empty.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    empty.chmod(0o755)
    process = Warm(str(empty), "torch")
    assert process.run({}).problem == f"torch is not installed in {empty}"


def without_fork(folder: Path) -> Warm:
    python = folder / "python"
    start = (
        "import os, sys, runpy; del os.fork; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{start}" "$@"\n')
    python.chmod(0o755)
    return Warm(str(python), "torch")


def test_without_fork_each_job_has_a_fresh_process(tmp_path):
    process = without_fork(tmp_path)
    try:
        assert execute(process, tmp_path, "import sys\nsys.path_was_here = 1\n").problem == ""
        assert execute(process, tmp_path, "import sys\nsys.path_was_here\n").problem.startswith("AttributeError")
    finally:
        process.stop()


def test_a_program_may_delete_its_own_file(prover):
    prover.write(BLOCK + "\n\nimport os\nos.remove(__file__)\nBlock(3)(torch.randn(2, 3, 8, 8)).sum().backward()\n")
    proved = prover.run(is_json=False)
    assert "confirmed on torch" in proved.out
    assert "y += x" in proved.out
    assert not (prover.folder / "program.py").exists()


def test_nothing_of_ours_is_left_in_the_folder(prover):
    prover.write(BLOCK)
    assert prover.run().verdicts == [("IPL101", 13, "confirmed")]
    assert sorted(path.name for path in prover.folder.iterdir()) == ["inplace-lint.toml", "program.py"]


def test_output_of_a_program_is_shown_only_if_asked(prover):
    prover.write(BLOCK + "\n\nprint('says the program')\nBlock(3)\n")
    assert "says the program" not in (quiet := prover.run()).err + quiet.out
    assert "says the program" in prover.run("--confirm-output").err


def test_an_interrupt_leaves_no_process(prover):
    marker = prover.folder / "pid"
    prover.write(
        BLOCK + f"\n\nimport os, time\nopen({str(marker)!r}, 'w').write(str(os.getpid()))\nBlock(3)\ntime.sleep(300)\n"
    )
    with subprocess.Popen(
        prover.command("--confirm"),
        cwd=prover.folder,
        env=prover.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as tool:
        pid = _written(marker)
        os.killpg(tool.pid, signal.SIGINT)
        assert tool.wait(30) == 130
    assert _ends(pid)


def test_the_end_of_the_tool_ends_the_program(prover):
    marker = prover.folder / "pid"
    prover.write(
        BLOCK + f"\n\nimport os, time\nopen({str(marker)!r}, 'w').write(str(os.getpid()))\nBlock(3)\ntime.sleep(300)\n"
    )
    with subprocess.Popen(
        prover.command("--confirm"), cwd=prover.folder, env=prover.environment, stdout=subprocess.PIPE
    ) as tool:
        pid = _written(marker)
        tool.kill()
    assert _ends(pid)


def _written(marker: Path) -> int:
    end = time.monotonic() + 120
    while not (marker.exists() and marker.read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    return int(marker.read_text())


def _ends(pid: int) -> bool:
    end = time.monotonic() + 20
    while is_there(pid) and time.monotonic() < end:
        time.sleep(0.1)
    return not is_there(pid)
