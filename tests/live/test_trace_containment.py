"""What a watched program does to itself: it ends as it would without us, and what was seen by then is reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.live.conftest import ROOT

BUG = """\
import os, sys, time
import torch
y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""
FOUND = [("IPL101", 4)]


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("sys.exit(3)", 3),
        ("os._exit(4)", 4),
        ("os.kill(os.getpid(), 9)", 128 + 9),
        ("import ctypes; ctypes.string_at(0)", 128 + signal.SIGSEGV),
        ("os.remove(__file__)", 0),
        ("if os.fork() == 0: os._exit(5)\nos.wait()", 0),
        ("print('x' * 1_000_000)", 0),
        ("torch.empty(10**15)", 1),
    ],
)
def test_a_program_ends_as_without_us_and_is_reported(tracer, end, status):
    traced = tracer.run(f"{BUG}{end}\n")
    assert (traced.status, traced.codes) == (status, FOUND)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals of a terminal go to a group")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_a_program_that_loops_is_ended_by_a_signal_and_is_reported(tracer, number, status):
    program = tracer.write(f"{BUG}open('pid', 'w').write(str(os.getpid()))\nwhile True: pass\n")
    command = [sys.executable, "-m", "inplace_lint", "trace", "--python", sys.executable, program.name]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, cwd=tracer.folder, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as tool:
        pid = tracer.folder / "pid"
        end = time.monotonic() + 120
        while not (pid.exists() and pid.read_text()) and time.monotonic() < end:
            time.sleep(0.1)
        if number == signal.SIGINT:
            os.killpg(tool.pid, number)
        else:
            tool.send_signal(number)
        try:
            said = tool.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            os.killpg(tool.pid, signal.SIGKILL)
            raise
    assert "error[IPL101]" in said
    assert tool.returncode == status
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_workers_of_a_data_loader_are_not_disturbed(tracer):
    traced = tracer.run(
        """\
        import torch
        from torch.utils.data import DataLoader, Dataset


        class Numbers(Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, at):
                y = torch.full((2,), float(at), requires_grad=True).exp()
                y.mul_(2)
                return y.detach()


        if __name__ == "__main__":
            total = sum(float(batch.log().sum()) for batch in DataLoader(Numbers(), batch_size=2, num_workers=2))
            print(round(total, 3))
        """
    )
    assert (traced.status, traced.out, traced.codes) == (0, "67.09\n", [])
