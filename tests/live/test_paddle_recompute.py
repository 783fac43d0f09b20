"""Functions that Paddle runs again in backward, and programs that have hooks of their own."""

from __future__ import annotations

import pytest

pytest.importorskip("paddle")

HEAD = (
    "import paddle\nimport paddle.nn.functional as F\nfrom paddle import nn\n"
    "from paddle.distributed.fleet.utils import recompute\n"
    "x = paddle.ones([4, 3])\nx.stop_gradient = False\nh = x * 1.0\nscale = paddle.full([3], 2.0)\n"
)
AT = HEAD.count("\n")
OWN = """\
rows = paddle.zeros([3])

def again(t):
    rows.zero_()
    return t * (rows + 1.0)

recompute(again, h, MODE).sum().backward()
"""
TRAINING = """\
net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1D(3), nn.ReLU(), nn.Dropout(0.5))
opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
for _ in range(3):
    recompute(net, h.detach() + x, MODE).sum().backward()
    opt.step()
    opt.clear_grad()
"""
MODES = ("use_reentrant=True", "use_reentrant=False")


@pytest.fixture
def watched(paddle_child, tmp_path):
    def run(body: str):
        path = tmp_path / "program.py"
        path.write_text(HEAD + body, encoding="utf-8")
        return paddle_child.run(path)

    return run


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("function", "write"),
    [
        ("lambda t: F.sigmoid(t)", "h.add_(paddle.ones([4, 3]))"),
        ("lambda t: t * scale", "scale.zero_()"),
        ("lambda t: t * (scale + 1.0)", "scale.set_value(paddle.ones([3]))"),
        ("lambda t: t * scale[1:]", "scale[1] = 9.0"),
    ],
)
def test_what_runs_again_on_other_values_is_reported(watched, mode, function, write):
    function = function.replace("t * scale[1:]", "t[:, 1:] * scale[1:]")
    seen = watched(f"y = recompute({function}, h, {mode})\n{write}\ny.sum().backward()\n")
    assert (seen.codes, seen.error) == ([("IPL402", AT + 2)], "")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "body",
    [
        "y = recompute(lambda t: t * scale, h, MODE)\ny.sum().backward()\nscale.zero_()\n",
        "y = recompute(lambda t: t + scale, h, MODE)\nscale.zero_()\ny.sum().backward()\n",
        "scale.zero_()\nrecompute(lambda t: t * scale, h, MODE).sum().backward()\n",
        "kept = scale.clone()\ny = recompute(lambda t: t * kept, h, MODE)\nscale.zero_()\ny.sum().backward()\n",
        OWN,
        TRAINING,
    ],
)
def test_a_sound_function_is_clean(watched, mode, body):
    seen = watched(body.replace("MODE", mode))
    assert (seen.codes, seen.error) == ([], "")


def test_hooks_of_the_program_are_its_own(watched):
    seen = watched(
        "names = []\n\ndef pack(t):\n    names.append('packed')\n    return t.numpy()\n\n"
        "with paddle.autograd.saved_tensors_hooks(pack, paddle.to_tensor):\n    y = F.sigmoid(h)\n"
        "assert names == ['packed']\ny.sum().backward()\n"
        "z = F.sigmoid(x * 1.0)\nz.add_(paddle.ones([4, 3]))\nz.sum().backward()\n"
    )
    assert (seen.codes, seen.error) == ([("IPL101", AT + 12)], "")


def test_hooks_in_hooks_are_refused_as_ever(watched):
    seen = watched(
        "same = lambda t: t\nhooks = paddle.autograd.saved_tensors_hooks\nwith hooks(same, same):\n    try:\n"
        "        with hooks(same, same):\n            pass\n    except ValueError:\n        refused = True\n"
        "assert refused\nz = F.sigmoid(h)\nz.add_(paddle.ones([4, 3]))\nz.sum().backward()\n"
    )
    assert (seen.codes, seen.error) == ([("IPL101", AT + 11)], "")


@pytest.mark.parametrize(
    "body",
    [
        "g = paddle.exp(t)\n    g.scale_(0.1)\n    return g * 1.0",
        "g = F.sigmoid(t)\n    g[0] = 0.0\n    return g * 1.0",
        "g = F.gelu(t * 1.0)\n    g.tanh_()\n    g.add_(t)\n    return g * 1.0",
    ],
)
def test_what_a_later_run_saves_and_overwrites_is_reported(watched, body):
    line = AT + 1 + body.count("\n")
    seen = watched(f"def again(t):\n    {body}\nrecompute(again, h, use_reentrant=False).sum().backward()\n")
    assert (seen.codes, seen.error) == ([("IPL302", line)], "")


def test_what_a_later_run_may_overwrite_is_clean(watched):
    body = "g = paddle.exp(t)\n    k = g * 1.0\n    k.scale_(2.0)\n    return k"
    seen = watched(
        f"def again(t):\n    {body}\nrecompute(again, h, use_reentrant=False).scale_(2.0).sum().backward()\n"
    )
    assert (seen.codes, seen.error) == ([], "")
