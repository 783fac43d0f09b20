"""What a GPU asks of the processes that jobs run in, as far as a machine without one can show it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_lint.live.warm import Warm
from tests.live.test_confirm_containment import execute

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
ROOT = Path(__file__).resolve().parents[2]

# Addresses for 200 GB without any memory: what the driver of a GPU asks for when it starts.
RESERVES = """\
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
if libc.mmap(None, 200 << 30, 0, 0x4022, -1, 0) in (None, ctypes.c_void_p(-1).value):
    raise MemoryError(ctypes.get_errno())
"""
# PyTorch for CPUs alone takes a device that is not there until something is made on it.
STARTS = """\
import torch
from inplace_lint.live.child.watch.manager import WatchManager
torch.set_default_device("cuda")
watching = WatchManager(lambda record: None)
watching.start()
watching.stop()
"""


@pytest.fixture
def gpu_warm():
    process = Warm(sys.executable, "torch", "cuda")
    yield process
    process.stop()


def test_a_job_on_a_gpu_may_reserve_addresses(gpu_warm, tmp_path):
    assert execute(gpu_warm, tmp_path, RESERVES, device="cuda").problem == ""
    assert "MemoryError" in execute(gpu_warm, tmp_path, RESERVES, device="cpu").problem


def test_memory_is_limited_on_a_gpu_too(gpu_warm, tmp_path):
    source = "kept = [bytearray(b'x') * 50_000_000 for _ in range(60)]\nwhile True: pass\n"
    assert execute(gpu_warm, tmp_path, source, device="cuda", memory=512).problem == "used more than 512 MB of memory"


def test_watching_makes_nothing_on_the_default_device():
    done = subprocess.run(
        [sys.executable, "-c", STARTS],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr


def _order(path, *, seconds, memory):
    """Return the order to call `step` of a program on the GPU."""
    return {
        "framework": "torch",
        "path": str(path),
        "paths": [],
        "entry": {"kind": "call", "name": "step"},
        "marks": [],
        "lines": [],
        "device": "cuda",
        "seconds": seconds,
        "memory": memory,
    }


def test_a_module_that_starts_the_gpu_is_imported_anew_for_each_target(gpu_warm, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import torch\ntorch.cuda.is_initialized = lambda: True\nopen(__file__ + '.log', 'a').write('x')\n"
        "def step(): pass\n"
    )
    order = _order(path, seconds=20, memory=2048)
    assert [gpu_warm.run(order).problem for _ in range(2)] == ["", ""]
    assert len(Path(f"{path}.log").read_text()) == 3  # once to find out, and once for each


def test_paddle_is_not_imported_by_the_process_that_is_copied():
    pytest.importorskip("paddle")
    process = Warm(sys.executable, "paddle", "cuda")
    process.start()
    try:
        assert process.version
        assert "libpaddle" not in Path(f"/proc/{process.pid}/maps").read_text()
    finally:
        process.stop()


@pytest.mark.cuda
@pytest.mark.parametrize("name", ["shared", "alone"])
def test_targets_run_on_a_gpu_one_after_the_other(gpu_warm, tmp_path, name):
    path = tmp_path / "program.py"
    made = "x = torch.ones(3, requires_grad=True)\n" if name == "alone" else ""
    path.write_text(
        f"import torch\n{made}def step():\n    h = torch.ones(3, requires_grad=True).exp()\n    h.add_(1)\n"
        "    assert h.is_cuda\n    h.sum().backward()\n"
    )
    order = _order(path, seconds=60, memory=8192)
    for _ in range(2):
        ran = gpu_warm.run(order)
        assert (ran.problem, [record.kind for record in ran.records]) == ("", ["watched", "stale"])
