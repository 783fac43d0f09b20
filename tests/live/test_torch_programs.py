"""What `trace` says of small programs on the real PyTorch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
x = torch.rand(4, 4, requires_grad=True)
h = x + 0
"""  # five lines: the first line of a body is line 6

RAISING = {
    "a saved output": (
        """\
y = h.exp()
y += 1
y.sum().backward()
""",
        [("IPL101", 7)],
    ),
    "a saved input": (
        """\
y = F.gelu(h)
h[0] = 0
y.sum().backward()
""",
        [("IPL101", 7)],
    ),
    "a view of what was saved": (
        """\
y = h.exp()
y.view(-1)[2:].mul_(2)
y.sum().backward()
""",
        [("IPL101", 7)],
    ),
    "without gradients": (
        """\
y = h.exp()
with torch.no_grad():
    y.mul_(2)
y.sum().backward()
""",
        [("IPL101", 8)],
    ),
    "two faults in one run": (
        """\
y = h.exp()
y += 1
z = h.tanh()
z += 1
(y + z).sum().backward()
""",
        [("IPL101", 7), ("IPL101", 9)],
    ),
    "a module in place": (
        """\
act = nn.ReLU(inplace=True)
y = act(h.exp())
y.sum().backward()
""",
        [("IPL102", 6)],
    ),
    "a module in a container": (
        """\
net = nn.Sequential(
    nn.Linear(4, 4), nn.Sigmoid(),
    nn.ReLU(inplace=True))
net(h).sum().backward()
""",
        [("IPL102", 8)],
    ),
    "a function in place": (
        """\
y = h.exp()
F.relu(y, inplace=True)
y.sum().backward()
""",
        [("IPL102", 7)],
    ),
    "its own operand": (
        """\
h *= h
h.sum().backward()
""",
        [("IPL101", 6)],
    ),
    "a step too early": (
        """\
m = nn.Linear(4, 4)
o = torch.optim.SGD(m.parameters(), .1)
l = m(h).sum()
l.backward(retain_graph=True)
o.step()
l.backward()
""",
        [("IPL103", 10)],
    ),
    "a foreach step too early": (
        """\
m = nn.Linear(4, 4)
o = torch.optim.Adam(m.parameters(), foreach=True)
l = m(h).sum()
l.backward(retain_graph=True)
o.step()
l.backward()
""",
        [("IPL103", 10)],
    ),
    "a custom function": (
        """\
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * t
    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return 2 * t * g
y = Square.apply(h)
h += 1
y.sum().backward()
""",
        [("IPL101", 16)],
    ),
    "a checkpoint": (
        """\
from torch.utils.checkpoint import checkpoint
y = checkpoint(F.gelu, h, use_reentrant=False)
h += 1
y.sum().backward()
""",
        [("IPL101", 8)],
    ),
    "double backward": (
        """\
y = h.exp()
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
y += 1
g.sum().backward()
""",
        [("IPL101", 8)],
    ),
    "a parameter that a later graph saved as well": (
        """\
m = nn.Linear(4, 4)
l = m(h).sum()
m(h * 2).sum().backward()
with torch.no_grad():
    m.weight.zero_()
l.backward()
""",
        [("IPL103", 10)],
    ),
    "an LSTM": (
        """\
m = nn.LSTM(4, 4)
y, _ = m(h[None])
y += 1
y.sum().backward()
""",
        [("IPL101", 8)],
    ),
    "another thread": (
        """\
import threading
def work():
    y = h.exp()
    y += 1
    y.sum().backward()
t = threading.Thread(target=work)
t.start()
t.join()
""",
        [("IPL101", 9)],
    ),
}

REFUSED = {
    "a leaf": ("x += 1", [("IPL201", 6)]),
    "a view of a leaf": ("x[0] += 1", [("IPL202", 6)]),
    "one of several views": (
        """\
a, b = h.chunk(2)
a.mul_(2)
""",
        [("IPL203", 7)],
    ),
    "a view made under no_grad": (
        """\
with torch.no_grad():
    v = h[0]
v += 1
""",
        [("IPL204", 8)],
    ),
    "an inference tensor": (
        """\
with torch.inference_mode():
    t = torch.ones(4)
t += 1
""",
        [("IPL205", 8)],
    ),
    "expanded memory": ("h[0].expand(4, 4).add_(1)", [("IPL206", 6)]),
    "an index into expanded memory, which backward refuses": (
        """\
y = h[0].expand(4, 4)
y[y > 0.5] = 0.0
y.mul(2).sum().backward()
""",
        [("IPL206", 7)],
    ),
    "the second of two writes, which backward refuses": (
        """\
y = h.exp()
y[0].mul_(2).zero_()
y[0].expand(4, 4).zero_()
y.sum().backward()
""",
        [("IPL206", 8)],
    ),
    "a write in a custom backward": (
        """\
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t * 2
    @staticmethod
    def backward(ctx, g):
        return g.expand(4, 4).mul_(2)
Twice.apply(h).sum().backward()
""",
        [("IPL206", 12)],
    ),
    "a view of a view made under no_grad": (
        """\
with torch.no_grad():
    flat = h.view(-1)
part = flat[1:]
h.detach().mul_(2)
part.sum()
""",
        [("IPL204", 9)],
    ),
    "a row for a batch": ("torch.vmap(lambda row: torch.zeros(5)[1:].copy_(row))(h)", [("IPL211", 6)]),
    "a captured tensor": ("torch.func.grad(lambda t: h.detach().add_(1).sum() + t.sum())(x)", [("IPL211", 6)]),
    "compiled code that is refused": (
        """\
@torch.compile(backend="eager")
def running(t):
    t = t * 2
    t[1:] += t[:-1]
    return t
running(torch.ones(4))
""",
        [("IPL206", 9)],
    ),
    "a whole number": (
        """\
n = torch.zeros(4, dtype=torch.long)
n /= 2
""",
        [("IPL207", 7)],
    ),
    "out": ("torch.add(h, 1, out=torch.zeros(4, 4))", [("IPL208", 6)]),
    "a hooked module": (
        """\
m = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True))
m[0].register_full_backward_hook(lambda *a: None)
m(h)
""",
        [("IPL209", 6)],
    ),
    "a custom view": (
        """\
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t.view_as(t)
    @staticmethod
    def backward(ctx, g):
        return g
y = Same.apply(h)
y += 1
""",
        [("IPL210", 14)],
    ),
    "the base of a custom view": (
        """\
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t
    @staticmethod
    def backward(ctx, g):
        return g
y = Same.apply(h)
h += 1
y.sum()
""",
        [("IPL210", 14)],
    ),
}

SILENT = {
    "columns that are shifted in place": (
        """\
a = torch.arange(12.0).reshape(3, 4)
a[:, 1:] = a[:, :-1]
b = torch.arange(12.0).reshape(3, 4)
b -= b[:, :1]
""",
        [("IPL309", 7), ("IPL309", 9)],
    ),
    "data": (
        """\
y = h.sigmoid()
y.data.mul_(2)
y.sum().backward()
""",
        [("IPL302", 7)],
    ),
    "a fused step": (
        """\
m = nn.Linear(4, 4)
o = torch.optim.Adam(m.parameters(), fused=True)
l = m(h).sum()
l.backward(retain_graph=True)
o.step()
l.backward()
""",
        [("IPL103", 10)],
    ),
    "an attribute of a context": (
        """\
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.t = t
        return t * t
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.t * g
y = Square.apply(h)
h += 1
y.sum().backward()
""",
        [("IPL302", 15)],
    ),
    "statistics of an evaluated batch norm": (
        """\
b = nn.BatchNorm1d(4).eval()
y = b(h).sum()
b.train()
b(h.detach())
y.backward()
""",
        [("IPL302", 9)],
    ),
}

CLEAN = {
    "parts that share memory and no values": """\
a = torch.arange(12.0).reshape(3, 4)
a[:, 1:] = a[:, :-1].clone()
a[:, :2] = a[:, 2:]
a.t().copy_(a.t())
zeros = torch.zeros(3, 4)
zeros[:, 1:] = zeros[:, :-1]
assert zeros.sum() == 0
""",
    "not saved": """\
y = F.linear(h, torch.rand(4, 4))
y += 1
y.sum().backward()
""",
    "after backward": """\
y = h.exp()
y.sum().backward()
y += 1
""",
    "a clone": """\
y = h.exp()
z = y.clone()
z += 1
(y + z).sum().backward()
""",
    "an in-place op that keeps its result": """\
h.sigmoid_()
h.sum().backward()
""",
    "batch norm twice": """\
b = nn.BatchNorm1d(4)
(b(h) + b(h * 2)).sum().backward()
""",
    "a GRU and its chunks": """\
g = nn.GRUCell(4, 4)
s = torch.zeros(4, 4)
for _ in range(3):
    s = g(h, s)
s.sum().backward()
""",
    "other columns, behind the counter": """\
y = h.exp()
y[:, :2].sum().backward() if y.data[:, 3].mul_(1) is None else None
""",
    "training with Adam": """\
m = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.BatchNorm1d(4))
o = torch.optim.Adam(m.parameters())
for _ in range(3):
    o.zero_grad()
    m(x.detach()).sum().backward()
    o.step()
""",
    "hooks of the user that copy": """\
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
    y = h.exp()
y += 1
y.sum().backward()
""",
    "transforms of functions": """\
assert torch.allclose(torch.func.grad(lambda t: t.sin().sum())(x.detach()), x.detach().cos())
torch.func.vmap(torch.sin)(x)
y = h.exp()
y.sum().backward()
""",
    "a value that is put back": """\
y = h.exp()
kept = y.detach().clone()
y.data.zero_()
y.data.copy_(kept)
y.sum().backward()
torch.autograd.gradcheck(lambda t: t.sin() * t, torch.ones(3, dtype=torch.double, requires_grad=True))
""",
    "a mode of the program": """\
class Mode(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


b = nn.BatchNorm1d(4)
with Mode():
    b(h).sum().backward()
""",
    "what is traced and scripted": """\
m = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True))
torch.jit.trace(m, x.detach())(h).sum().backward()
str(torch.jit.trace(lambda a: a.clone().mul_(a.shape[0])[0].add_(1), x.detach()).graph)
torch.jit.script(m)(h).sum().backward()
""",
    "an error that the program handles": """\
try:
    x += 1
except RuntimeError:
    pass
""",
    "deep copies and pickles of modules": """\
import copy, pickle
m = nn.Linear(4, 4)
n = pickle.loads(pickle.dumps(copy.deepcopy(m)))
assert 'forward' not in vars(n)
(m(h) + n(h)).sum().backward()
""",
    "workers": """\
from torch.utils.data import DataLoader


class Data:
    def __len__(self):
        return 4

    def __getitem__(self, i):
        t = torch.rand(3, requires_grad=True)
        y = t.exp()
        y.data += 1
        y.sum().backward()
        return t.detach()


for b in DataLoader(Data(), num_workers=2):
    pass
""",
}


def case(table):
    return pytest.mark.parametrize(("body", "expected"), [pytest.param(*row, id=name) for name, row in table.items()])


def run(child, folder, body):
    program = folder / "program.py"
    program.write_text(HEAD + body, encoding="utf-8")
    return child.run(program)


@case(RAISING)
def test_what_backward_would_raise_is_reported_and_the_run_goes_on(torch_child, tmp_path, body, expected):
    watched = run(torch_child, tmp_path, body)
    assert (watched.codes, watched.error) == (expected, "")
    assert {item.severity.value for item in watched.findings} == {"error"}


@case(REFUSED)
def test_what_the_framework_refuses_is_reported_after_its_own_error(torch_child, tmp_path, body, expected):
    watched = run(torch_child, tmp_path, body)
    assert watched.codes == expected, watched.error
    assert watched.error.startswith("RuntimeError")
    assert "  " not in watched.findings[0].says


@case(SILENT)
def test_what_goes_unnoticed_is_a_warning(torch_child, tmp_path, body, expected):
    watched = run(torch_child, tmp_path, body)
    assert (watched.codes, watched.error) == (expected, "")
    assert {item.severity.value for item in watched.findings} == {"warning"}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in CLEAN.items()])
def test_nothing_is_found_in_a_healthy_program(torch_child, tmp_path, body):
    watched = run(torch_child, tmp_path, body)
    assert (watched.codes, watched.error) == ([], "")


def test_numbers_are_those_of_a_run_without_us(tracer):
    body = """\
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(8, 2))
o = torch.optim.SGD(m.parameters(), 0.1, momentum=0.9)
for _ in range(5):
    o.zero_grad()
    F.cross_entropy(m(torch.randn(6, 4)), torch.randint(2, (6,))).backward()
    o.step()
print([p.detach().tolist() for p in m.parameters()])
"""
    traced = tracer.run(HEAD + body)
    alone = subprocess.run(
        [sys.executable, "program.py"], cwd=tracer.folder, capture_output=True, text=True, check=True
    )
    assert traced.out == alone.stdout


def test_the_ledger_ends_with_the_graphs(tracer):
    body = """\
import gc, sys
w = nn.Linear(64, 64)
for _ in range(20):
    w(torch.rand(2, 64)).exp().sum().backward()
gc.collect()
watching = sys.modules["_inplace_lint_watcher.watch.ledger"].Save
print(sum(isinstance(o, watching) for o in gc.get_objects()))
"""
    assert tracer.run(HEAD + body).out == "0\n"


def test_the_files_of_the_child_are_python_3_8():
    paths = sorted((ROOT / "inplace_lint" / "live" / "child").rglob("*.py"))
    assert len(paths) > 20
    for path in paths:
        ast.parse(path.read_text(encoding="utf-8"), path.name, feature_version=(3, 8))
