"""What the watcher says of small programs on the real Paddle."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """\
import paddle
import paddle.nn.functional as F
from paddle import nn
x = paddle.rand([3, 3]); x.stop_gradient = False
ones, h = paddle.ones([3, 3]), x * 1.0
"""  # five lines: the first line of a body is line 6

RAISING = {
    "a saved output": (
        """\
y = F.sigmoid(h)
y.scale_(2.0)
y.sum().backward()
""",
        [("IPL101", 7)],
    ),
    "a saved input": (
        """\
y = h * h
h.add_(ones)
y.sum().backward()
""",
        [("IPL101", 7)],
    ),
    "a view": (
        """\
y = h * h
h[0].zero_()
y.sum().backward()
""",
        [("IPL101", 7)],
    ),
    "another view": (
        """\
y = h[1] * h[1]
h[0].zero_()
y.sum().backward()
""",
        [("IPL101", 7)],
    ),
    "an item": (
        """\
y = h * h
h[0] = 0.0
y.sum().backward()
""",
        [("IPL101", 7)],
    ),
    "an item from the same tensor": (
        """\
h[1:] = h[:-1]
h.sum().backward()
""",
        [("IPL101", 6)],
    ),
    "a second write": (
        """\
h.exp_()
h.scale_(2.0)
h.sum().backward()
""",
        [("IPL101", 7)],
    ),
    "increment": (
        """\
t = h.sum()
y = t * t
paddle.increment(t)
y.backward()
""",
        [("IPL101", 8)],
    ),
}
REFUSED = {
    "a leaf": ("x.add_(ones)", [("IPL201", 6)]),
    "an item of a leaf": ("x[0] = 0.0", [("IPL201", 6)]),
    "a gradient in a hook": (
        """\
h.register_hook(lambda g: g.scale_(0.5))
(h * 2).sum().backward()
""",
        [("IPL201", 6)],
    ),
    "a leaf that a custom layer returns": (
        """\
class Same(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, t):
        return t
    @staticmethod
    def backward(ctx, g):
        return g
Same.apply(x)
""",
        [("IPL201", 9)],
    ),
    "a parameter": (
        """\
fc = nn.Linear(3, 3)
fc.weight *= 0.5
""",
        [("IPL212", 7)],
    ),
    "two kinds of numbers": (
        """\
z = paddle.zeros([3, 3], "int64")
z.add_(ones)
""",
        [("IPL207", 7)],
    ),
    "a layer that takes no `inplace`": ("act = nn.LeakyReLU(0.1, inplace=True)", [("IPL212", 6)]),
    "a function that takes no `inplace`": ("F.selu(h, inplace=True)", [("IPL212", 6)]),
    "a number that is no tensor": ("h.subtract_(1.0)", [("IPL212", 6)]),
    "a shape": (
        """\
z = paddle.zeros([3])
z.add_(ones)
""",
        [("IPL207", 7)],
    ),
}
SILENT = {
    "what a custom layer keeps": (
        """\
class Square(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * t
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensor()[0] * g
y = Square.apply(h)
h.add_(ones)
y.sum().backward()
""",
        [("IPL302", 15)],
    ),
    "what a segment is recomputed from": (
        """\
from paddle.distributed.fleet.utils import recompute
y = recompute(lambda t: F.sigmoid(t), h)
h.add_(ones)
y.sum().backward()
""",
        [("IPL402", 8)],
    ),
    "set_value": (
        """\
y = h * h
h.set_value(ones)
y.sum().backward()
""",
        [("IPL302", 7)],
    ),
    "out": (
        """\
y = h * h
paddle.add(ones, ones, out=h)
y.sum().backward()
""",
        [("IPL302", 7)],
    ),
    "a step too early": (
        """\
fc = nn.Linear(3, 1)
o = paddle.optimizer.SGD(0.1, parameters=fc.parameters())
y = fc(h).sum()
fc(ones).sum().backward()
o.step()
y.backward()
""",
        [("IPL103", 10)],
    ),
}
CLEAN = {
    "errors of its own": """\
class LeakyReLU:
    def __init__(self, slope):
        self.slope = slope

def subtract_(number):
    return number.shape

for wrong in (lambda: LeakyReLU(0.1, other=True), lambda: subtract_(1.0), lambda: h.missing):
    try:
        wrong()
    except (TypeError, AttributeError):
        pass
""",
    "not saved": """\
y = F.gelu(h)
y.add_(ones)
y.sum().backward()
""",
    "rebound": """\
y = F.sigmoid(h)
y += 1
y.sum().backward()
""",
    "after backward": """\
y = h * h
y.sum().backward()
h.zero_()
""",
    "its own result": """\
h.sin_()
h.square_()
h.sum().backward()
""",
    "other columns, behind the counter": """\
y = h[:, 0] * h[:, 0]
h[:, 1].set_value(paddle.ones([3]))
y.sum().backward()
""",
    "training": """\
m = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1D(3), nn.ReLU())
o = paddle.optimizer.Adam(parameters=m.parameters())
for _ in range(3):
    m(ones).sum().backward()
    o.step()
    o.clear_grad()
""",
}


def case(table):
    return pytest.mark.parametrize(("body", "expected"), [pytest.param(*row, id=name) for name, row in table.items()])


def run(child, folder, body):
    program = folder / "program.py"
    program.write_text(HEAD + body, encoding="utf-8")
    return child.run(program)


@case(RAISING)
def test_what_backward_would_raise_is_reported_and_the_run_goes_on(paddle_child, tmp_path, body, expected):
    watched = run(paddle_child, tmp_path, body)
    assert (watched.codes, watched.error) == (expected, "")


@case(REFUSED)
def test_what_the_framework_refuses_is_reported(paddle_child, tmp_path, body, expected):
    watched = run(paddle_child, tmp_path, body)
    assert watched.codes == expected, watched.error
    assert watched.error


@case(SILENT)
def test_what_goes_unnoticed_is_a_warning(paddle_child, tmp_path, body, expected):
    watched = run(paddle_child, tmp_path, body)
    assert (watched.codes, watched.error) == (expected, "")
    assert {item.severity.value for item in watched.findings} == {"warning"}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in CLEAN.items()])
def test_nothing_is_found_in_a_healthy_program(paddle_child, tmp_path, body):
    watched = run(paddle_child, tmp_path, body)
    assert (watched.codes, watched.error) == ([], "")


def test_a_program_with_graphs_alive_at_its_end_ends(tracer):
    traced = tracer.run(HEAD + "y = F.sigmoid(h)\ny.scale_(2.0)\ny.sum().backward()\nz = F.sigmoid(h)")
    assert (traced.status, traced.codes) == (0, [("IPL101", 7)])


def test_the_ledger_ends_with_the_graphs(tracer):
    body = """\
import gc, sys
m = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Softmax())
for _ in range(5):
    m(ones).sum().backward()
gc.collect()
watching = sys.modules["_inplace_lint_watcher.watch.ledger"].Save
print(sum(isinstance(o, watching) for o in gc.get_objects()))
"""
    assert tracer.run(HEAD + body).out == "0\n"
