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
    "a saved output": ("y = h.exp()\ny += 1\ny.sum().backward()", [("IPL101", 7)]),
    "a saved input": ("y = F.gelu(h)\nh[0] = 0\ny.sum().backward()", [("IPL101", 7)]),
    "a view of what was saved": ("y = h.exp()\ny.view(-1)[2:].mul_(2)\ny.sum().backward()", [("IPL101", 7)]),
    "without gradients": ("y = h.exp()\nwith torch.no_grad():\n    y.mul_(2)\ny.sum().backward()", [("IPL101", 8)]),
    "two faults in one run": (
        "y = h.exp()\ny += 1\nz = h.tanh()\nz += 1\n(y + z).sum().backward()",
        [("IPL101", 7), ("IPL101", 9)],
    ),
    "a module in place": ("act = nn.ReLU(inplace=True)\ny = act(h.exp())\ny.sum().backward()", [("IPL102", 6)]),
    "a module in a container": (
        "net = nn.Sequential(\n    nn.Linear(4, 4), nn.Sigmoid(),\n    nn.ReLU(inplace=True))\nnet(h).sum().backward()",
        [("IPL102", 8)],
    ),
    "a function in place": ("y = h.exp()\nF.relu(y, inplace=True)\ny.sum().backward()", [("IPL102", 7)]),
    "its own operand": ("h *= h\nh.sum().backward()", [("IPL101", 6)]),
    "a step too early": (
        "m = nn.Linear(4, 4)\no = torch.optim.SGD(m.parameters(), .1)\nl = m(h).sum()\n"
        "l.backward(retain_graph=True)\no.step()\nl.backward()",
        [("IPL103", 10)],
    ),
    "a foreach step too early": (
        "m = nn.Linear(4, 4)\no = torch.optim.Adam(m.parameters(), foreach=True)\nl = m(h).sum()\n"
        "l.backward(retain_graph=True)\no.step()\nl.backward()",
        [("IPL103", 10)],
    ),
    "a custom function": (
        "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t):\n"
        "        ctx.save_for_backward(t)\n        return t * t\n    @staticmethod\n    def backward(ctx, g):\n"
        "        (t,) = ctx.saved_tensors\n        return 2 * t * g\ny = Square.apply(h)\nh += 1\ny.sum().backward()",
        [("IPL101", 16)],
    ),
    "a checkpoint": (
        "from torch.utils.checkpoint import checkpoint\ny = checkpoint(F.gelu, h, use_reentrant=False)\nh += 1\ny.sum().backward()",
        [("IPL101", 8)],
    ),
    "double backward": (
        "y = h.exp()\n(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)\ny += 1\ng.sum().backward()",
        [("IPL101", 8)],
    ),
    "a parameter that a later graph saved as well": (
        "m = nn.Linear(4, 4)\nl = m(h).sum()\nm(h * 2).sum().backward()\n"
        "with torch.no_grad():\n    m.weight.zero_()\nl.backward()",
        [("IPL103", 10)],
    ),
    "an LSTM": ("m = nn.LSTM(4, 4)\ny, _ = m(h[None])\ny += 1\ny.sum().backward()", [("IPL101", 8)]),
    "another thread": (
        "import threading\ndef work():\n    y = h.exp()\n    y += 1\n    y.sum().backward()\n"
        "t = threading.Thread(target=work)\nt.start()\nt.join()",
        [("IPL101", 9)],
    ),
}

REFUSED = {
    "a leaf": ("x += 1", [("IPL201", 6)]),
    "a view of a leaf": ("x[0] += 1", [("IPL202", 6)]),
    "one of several views": ("a, b = h.chunk(2)\na.mul_(2)", [("IPL203", 7)]),
    "a view made under no_grad": ("with torch.no_grad():\n    v = h[0]\nv += 1", [("IPL204", 8)]),
    "an inference tensor": ("with torch.inference_mode():\n    t = torch.ones(4)\nt += 1", [("IPL205", 8)]),
    "expanded memory": ("h[0].expand(4, 4).add_(1)", [("IPL206", 6)]),
    "a whole number": ("n = torch.zeros(4, dtype=torch.long)\nn /= 2", [("IPL207", 7)]),
    "out": ("torch.add(h, 1, out=torch.zeros(4, 4))", [("IPL208", 6)]),
    "a hooked module": (
        "m = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True))\nm[0].register_full_backward_hook(lambda *a: None)\nm(h)",
        [("IPL209", 6)],
    ),
    "a custom view": (
        "class Same(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t):\n        return t.view_as(t)\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g\ny = Same.apply(h)\ny += 1",
        [("IPL210", 14)],
    ),
}

SILENT = {
    "data": ("y = h.sigmoid()\ny.data.mul_(2)\ny.sum().backward()", [("IPL302", 7)]),
    "a fused step": (
        "m = nn.Linear(4, 4)\no = torch.optim.Adam(m.parameters(), fused=True)\nl = m(h).sum()\n"
        "l.backward(retain_graph=True)\no.step()\nl.backward()",
        [("IPL103", 10)],
    ),
    "an attribute of a context": (
        "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t):\n        ctx.t = t\n"
        "        return t * t\n    @staticmethod\n    def backward(ctx, g):\n        return 2 * ctx.t * g\n"
        "y = Square.apply(h)\nh += 1\ny.sum().backward()",
        [("IPL302", 15)],
    ),
    "statistics of an evaluated batch norm": (
        "b = nn.BatchNorm1d(4).eval()\ny = b(h).sum()\nb.train()\nb(h.detach())\ny.backward()",
        [("IPL302", 9)],
    ),
}

CLEAN = {
    "not saved": "y = F.linear(h, torch.rand(4, 4))\ny += 1\ny.sum().backward()",
    "after backward": "y = h.exp()\ny.sum().backward()\ny += 1",
    "a clone": "y = h.exp()\nz = y.clone()\nz += 1\n(y + z).sum().backward()",
    "an in-place op that keeps its result": "h.sigmoid_()\nh.sum().backward()",
    "batch norm twice": "b = nn.BatchNorm1d(4)\n(b(h) + b(h * 2)).sum().backward()",
    "a GRU and its chunks": "g = nn.GRUCell(4, 4)\ns = torch.zeros(4, 4)\nfor _ in range(3):\n    s = g(h, s)\ns.sum().backward()",
    "other columns, behind the counter": "y = h.exp()\ny[:, :2].sum().backward() if y.data[:, 3].mul_(1) is None else None",
    "training with Adam": (
        "m = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.BatchNorm1d(4))\no = torch.optim.Adam(m.parameters())\n"
        "for _ in range(3):\n    o.zero_grad()\n    m(x.detach()).sum().backward()\n    o.step()"
    ),
    "hooks of the user that copy": (
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):\n    y = h.exp()\ny += 1\ny.sum().backward()"
    ),
    "transforms of functions": (
        "assert torch.allclose(torch.func.grad(lambda t: t.sin().sum())(x.detach()), x.detach().cos())\n"
        "torch.func.vmap(torch.sin)(x)\ny = h.exp()\ny.sum().backward()"
    ),
    "an error that the program handles": "try:\n    x += 1\nexcept RuntimeError:\n    pass",
    "deep copies and pickles of modules": (
        "import copy, pickle\nm = nn.Linear(4, 4)\nn = pickle.loads(pickle.dumps(copy.deepcopy(m)))\nassert 'forward' not in vars(n)\n(m(h) + n(h)).sum().backward()"
    ),
    "workers": (
        "from torch.utils.data import DataLoader\n\n\nclass Data:\n    def __len__(self):\n        return 4\n\n"
        "    def __getitem__(self, i):\n        t = torch.rand(3, requires_grad=True)\n        y = t.exp()\n        y.data += 1\n"
        "        y.sum().backward()\n        return t.detach()\n\n\nfor b in DataLoader(Data(), num_workers=2):\n    pass"
    ),
}


def case(table):
    return pytest.mark.parametrize(("body", "expected"), [pytest.param(*row, id=name) for name, row in table.items()])


def run(child, folder, body):
    program = folder / "program.py"
    program.write_text(HEAD + body, encoding="utf-8")
    return child.run(program)


@case(RAISING)
def test_what_backward_would_raise_is_told_and_the_run_goes_on(torch_child, tmp_path, body, expected):
    watched = run(torch_child, tmp_path, body)
    assert (watched.codes, watched.error) == (expected, "")
    assert {item.severity.value for item in watched.findings} == {"error"}


@case(REFUSED)
def test_what_the_framework_refuses_is_told_after_its_own_error(torch_child, tmp_path, body, expected):
    watched = run(torch_child, tmp_path, body)
    assert watched.codes == expected, watched.error
    assert watched.error.startswith("RuntimeError")


@case(SILENT)
def test_what_goes_unnoticed_is_a_warning(torch_child, tmp_path, body, expected):
    watched = run(torch_child, tmp_path, body)
    assert (watched.codes, watched.error) == (expected, "")
    assert {item.severity.value for item in watched.findings} == {"warning"}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in CLEAN.items()])
def test_nothing_is_said_of_a_healthy_program(torch_child, tmp_path, body):
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


def test_books_end_with_the_graphs(tracer):
    body = """\
import gc, sys
w = nn.Linear(64, 64)
for _ in range(20):
    w(torch.rand(2, 64)).exp().sum().backward()
gc.collect()
watching = sys.modules["_inplace_lint_watcher.ledger"].Save
print(sum(isinstance(o, watching) for o in gc.get_objects()))
"""
    assert tracer.run(HEAD + body).out == "0\n"


@pytest.mark.parametrize("path", sorted((ROOT / "inplace_lint" / "live" / "child").glob("*.py")), ids=lambda p: p.name)
def test_the_files_of_the_child_are_python_3_8(path):
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
