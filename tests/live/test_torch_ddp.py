"""
What DistributedDataParallel does to buffers when its module runs twice before one backward: two processes with gloo.

Each forward copies the buffers of process 0 over those of the others, in place. Earlier releases count that as a write,
so that backward raises for any buffer that it needs; the installed one keeps the versions. What a layer has kept for
backward is then overwritten unnoticed where its value was not that of process 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import json, os, sys
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(3))

    def forward(self, h):
        self.mean = 0.9 * self.mean + 0.1 * h.detach().mean(0)
        return h * self.mean


def gradient(module, inputs, together):
    torch.manual_seed(0)
    net = DistributedDataParallel(nn.Sequential(nn.Linear(3, 3), module))
    with net.no_sync():
        if together:
            sum(net(x).pow(2).sum() for x in inputs).backward()
        else:
            for x in inputs:
                net.require_forward_param_sync = True
                net(x).pow(2).sum().backward()
    return net.module[0].weight.grad


def work(rank, file):
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    torch.manual_seed(rank)
    inputs = [torch.rand(4, 3) for _ in range(2)]
    same = [
        torch.allclose(gradient(make(), inputs, True), gradient(make(), inputs, False))
        for make in (lambda: nn.BatchNorm1d(3), Scaled)
    ]
    with open(f"{file}.{rank}", "w") as out:
        json.dump(same, out)
    dist.barrier()


if __name__ == "__main__":
    work(int(sys.argv[1]), sys.argv[2])
    # Threads of gloo that still run when the interpreter shuts down abort the process now and then.
    os._exit(0)
"""


@pytest.fixture(scope="module")
def same(tmp_path_factory) -> list[list[bool]]:
    """Return whether the gradients of two forwards and one backward are those of two steps, for each process."""
    folder: Path = tmp_path_factory.mktemp("ddp")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "program.py"]
    started = [subprocess.Popen([*command, str(rank), str(folder / "gloo")], cwd=folder) for rank in range(2)]
    assert [process.wait(timeout=120) for process in started] == [0, 0]
    return [json.loads((folder / f"gloo.{rank}").read_text()) for rank in range(2)]


def test_batch_norm_may_run_twice(same):
    assert [batch_norm for batch_norm, _ in same] == [True, True]


def test_a_buffer_that_a_process_has_of_its_own_is_overwritten_before_backward(same):
    assert [buffer for _, buffer in same] == [True, False]
