"""Programs that use the framework in unusual ways end, print and compute under `trace` as they do without it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.live.conftest import ROOT

HEAD = """\
import os, sys
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Linear(8, 2))
x = torch.randn(6, 4)


def shown():
    print([round(float(p.grad.sum()), 4) for p in net.parameters() if p.grad is not None], flush=True)


"""
TORCH = {
    "overlapping writes": """\
a = torch.full((3, 4), 0.5)
a[:, 1:] = a[:, :-1]
a[:, 2:].bernoulli_(a[:, :2].abs().clamp(0, 1))
print(a.tolist(), torch.rand(3).tolist())
with torch.inference_mode():
    a.lerp_(a[:, :1], 0.5)
net(x).sum().backward()
shown()
""",
    "jit.trace": """\
def f(a, b):
    c = a * 1
    c.mul_(b.shape[0])
    c[0] += 1
    return c.view(c.size(0), -1).sum()


traced = torch.jit.trace(net, x)
traced(x).sum().backward()
print(traced.graph, torch.jit.trace(f, (torch.randn(3, 4), torch.randn(5))).code)
shown()
""",
    "jit.script": """\
scripted = torch.jit.script(net)
for _ in range(4):
    scripted(x).sum().backward()
print(scripted.graph, torch.jit.freeze(scripted.eval())(x).sum().item())
shown()
""",
    "fx": """\
from torch.fx.experimental.proxy_tensor import make_fx


def f(a):
    b = a.sin().mul(2)
    b.add_(1)
    return b


module = torch.fx.symbolic_trace(net)
module(x).sum().backward()
print(module.code, *(make_fx(f, tracing_mode=mode)(torch.ones(3)).code for mode in ("real", "fake", "symbolic")))
shown()
""",
    "export": """\
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(1))
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        self.n.add_(1)
        y = self.linear(x)
        y.mul_(2)
        return y + self.n


program = torch.export.export(Counter(), (x,), dynamic_shapes={"x": {0: torch.export.Dim("b")}})
print(program.graph, program.module()(x).sum().item(), program.run_decompositions().graph)
""",
    "compile": """\
def step(x):
    optimizer.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for backend in ("eager", "aot_eager"):
    torch._dynamo.reset()
    torch.compile(net, backend=backend)(x).sum().backward()
    shown()
    compiled = torch.compile(step, backend=backend)
    print([round(compiled(x).item(), 5) for _ in range(3)])
""",
    "functions and modes": """\
from torch.func import functional_call, grad, vmap
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

print(torch.autograd.gradcheck(lambda t: t.sin() * t, torch.ones(3, dtype=torch.double, requires_grad=True)))
for reentrant in (True, False):
    z = x.clone().requires_grad_()
    checkpoint(net, z, use_reentrant=reentrant).sum().backward()
with torch.autograd.graph.save_on_cpu(), FlopCounterMode(display=False) as counter:
    net(x).sum().backward()
with torch.autograd.detect_anomaly(), torch.autocast("cpu", dtype=torch.bfloat16):
    net(x).float().sum().backward()
print(counter.get_total_flops())
shown()
net.eval()
loss = lambda p, one: functional_call(net, p, (one.unsqueeze(0),)).square().sum()
print([round(v.sum().item(), 3) for v in vmap(grad(loss), (None, 0))(dict(net.named_parameters()), x).values()])
""",
    "workers": """\
from torch.utils.data import DataLoader, TensorDataset


def collate(items):
    batch = torch.stack([item[0] for item in items])
    batch.mul_(2)
    return batch


if __name__ == "__main__":
    for how in ("fork", "spawn"):
        data = TensorDataset(torch.arange(32.0).view(8, 4))
        for batch in DataLoader(data, 4, num_workers=2, collate_fn=collate, multiprocessing_context=how):
            net(batch).sum().backward()
        shown()
""",
    "fork and spawn": """\
import multiprocessing


def job(results, count):
    results.put(float(torch.ones(count).exp_().sum()))


if __name__ == "__main__":
    net(x).sum().backward()
    if os.fork() == 0:
        net(x).sum().backward()
        shown()
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    shown()
    for how in ("fork", "spawn"):
        context = multiprocessing.get_context(how)
        results = context.SimpleQueue()
        process = context.Process(target=job, args=(results, 3))
        process.start()
        print(round(results.get(), 4))
        process.join()
        print(process.exitcode)
    sys.exit(3)
""",
    "two processes with gloo": """\
import torch.distributed as dist


def work(rank, file):
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    torch.manual_seed(rank)
    model = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.randn(6, 4)).square().mean()
        loss.backward()
        optimizer.step()
    total = torch.ones(2)
    dist.all_reduce(total)
    if rank == 0:
        print(round(loss.item(), 5), total.tolist())
        shown()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    child = os.fork()
    work(int(child == 0), os.path.abspath(f"{sys.argv[1]}.gloo"))
    if child == 0:
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""",
}
PADDLE = """\
import paddle
from paddle import nn
from paddle.distributed.fleet.utils import recompute
paddle.seed(0)
blocks = [nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1D(16), nn.ReLU(), nn.Dropout(0.1)) for _ in range(2)]
optimizer = paddle.optimizer.Adam(parameters=[p for block in blocks for p in block.parameters()])
for reentrant in (True, False):
    x = paddle.randn([8, 16])
    x.stop_gradient = False
    y = recompute(blocks[1], recompute(blocks[0], x, use_reentrant=reentrant), use_reentrant=reentrant)
    y.sum().backward()
    optimizer.step()
    optimizer.clear_grad()
    print(float(y.sum()), float(x.grad.sum()))
with paddle.autograd.saved_tensors_hooks(lambda t: t.numpy(), paddle.to_tensor):
    y = paddle.exp(x * 2)
y.sum().backward()
print(float(x.grad.sum()))
"""
PROGRAMS = [
    *(pytest.param(HEAD + body, id=name) for name, body in TORCH.items()),
    pytest.param(PADDLE, id="recompute", marks=pytest.mark.paddle),
]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="programs fork")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_is_the_same_under_trace(tmp_path, program):
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "GLOG_minloglevel": "3"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    alone = run("program.py", "alone")
    traced = run("-m", "inplace_lint", "trace", "--python", sys.executable, "program.py", "traced")
    assert (traced.returncode, traced.stdout) == (alone.returncode, alone.stdout), traced.stderr
    assert "Traceback" not in alone.stderr, alone.stderr
    assert "nothing was found" in traced.stderr
