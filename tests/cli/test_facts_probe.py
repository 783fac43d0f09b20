"""`inplace-lint facts probe MODULE:FUNCTION`: the fact of an operator, as calls of it on the real framework show it."""

from __future__ import annotations

import json
import sys

import pytest

from tests.live import imported

MODULE = """\
import torch
from torch import Tensor


def scaled_(x: Tensor, by: float = 2.0):
    return x.mul_(by).sigmoid_()


def raw_(x: Tensor) -> None:
    x.detach().numpy()[...] += 1


def product(x, w):
    return x * w


def heads(x: Tensor, n: int = 2):
    return x.view(-1, n)


def masked(x: Tensor, mask):
    return x.masked_fill(mask, 0), x.detach()


def cut(x):
    return x.detach().exp()


class Hiding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x**2

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad


def hiding(x: Tensor):
    return Hiding.apply(x)


@torch.library.custom_op("probed::bump", mutates_args=("x",))
def bump(x: Tensor) -> None:
    x.detach().numpy()[...] += 1


def copied(x, y):
    x.detach().numpy()[...] = y.detach().numpy()


def step(params, lr):
    for param in params:
        param.data.add_(-lr)


def first_of(tensors):
    tensors[0].mul_(2)


def picked(tensors):
    return tensors[0]


def gathered(x):
    return {"x": x}


def parts(x):
    return x.chunk(2)


def twice(x):
    return x[:1].expand(4, *x.shape[1:])


def scaled(x, *, by=2.0):
    return x * by


def positional(x, /, y):
    return x.mul_(2)


def bumped(*tensors):
    for tensor in tensors:
        tensor.add_(1)


class Separate(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


relu = torch.nn.ReLU()
packet = torch.ops.aten.mul_


def broken(x):
    raise ValueError("never")
"""
OF_PADDLE = """\
import paddle
from paddle import Tensor


def scaled_(x: Tensor, by: float = 2.0):
    return x.scale_(by)


def product(x, w):
    return x * w


def heads(x: Tensor, n: int = 2):
    return x.reshape([-1, n])


def root(x: Tensor):
    return paddle.sqrt(x)


def cut(x):
    return x.detach().exp()


def shown(x):
    return x.detach()


class Square(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensor()
        return 2 * x * grad


def square(x: Tensor):
    return Square.apply(x)
"""
CHECKS = ["leaf", "leaf_view", "multi_view", "no_grad_view", "inference", "overlap"]
MULTI = {"is": "view", "of": "x", "kind": "multi"}
NOTHING = [{"is": "value", "kind": "none"}]


@pytest.fixture
def probe(lint, folder):
    (folder / "my_ops.py").write_text(MODULE)

    def run(name, *words):
        framework = "paddle" if name.startswith("my_layers") else "torch"
        return lint("facts", "probe", name, "--python", imported.python(framework), *words)

    return run


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        (
            "scaled_",
            {
                "args": ["x", "by=2.0"],
                "writes": [{"to": "x", "counted": True, "checks": CHECKS}],
                "saves": [{"of": "out0"}],
                "returns": [{"is": "x"}],
            },
        ),
        (
            "raw_",
            {"args": ["x"], "writes": [{"to": "x", "counted": False}], "history": "keep_old", "returns": NOTHING},
        ),
        ("product", {"args": ["x", "w"], "saves": [{"of": "x"}, {"of": "w"}], "returns": [{"is": "fresh"}]}),
        ("heads", {"args": ["x", "n=2"], "returns": [{"is": "view", "of": "x"}]}),
        ("cut", {"args": ["x"], "grads": [], "returns": [{"is": "fresh"}]}),
        ("hiding", {"args": ["x"], "saves": [{"of": "x", "checked": False}], "returns": [{"is": "fresh"}]}),
        (
            "bump",
            {"args": ["x"], "writes": [{"to": "x", "counted": True}], "history": "keep_old", "returns": NOTHING},
        ),
        (
            "copied",
            {"args": ["x", "y"], "writes": [{"to": "x", "counted": False}], "history": "keep_old", "returns": NOTHING},
        ),
        ("parts", {"args": ["x"], "returns": [{"is": "tuple", "items": [MULTI, MULTI]}]}),
        ("twice", {"args": ["x"], "returns": [{"is": "view", "of": "x", "kind": "expanded"}]}),
        ("scaled", {"args": ["x", "*", "by=2.0"], "returns": [{"is": "fresh"}]}),
        (
            "positional",
            {
                "args": ["x", "y"],
                "writes": [{"to": "x", "counted": True, "checks": CHECKS}],
                "returns": [{"is": "x"}],
            },
        ),
        ("Hiding.apply", {"args": ["x"], "saves": [{"of": "x", "checked": False}], "returns": [{"is": "fresh"}]}),
        ("Separate.apply", {"args": ["x"], "saves": [{"of": "out0"}], "returns": [{"is": "fresh"}]}),
    ],
)
def test_what_an_operator_does_is_seen(probe, name, seen):
    ran = probe(f"my_ops:{name}")
    assert ran.status == 0, ran.err
    fact = json.loads(ran.out)
    assert fact.pop("source").startswith("run on torch ")
    assert len(fact.pop("probed")) == 1
    assert fact == {"op": f"my_ops.{name}", **seen}


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        (
            "scaled_",
            {
                "args": ["x", "by=2.0"],
                "writes": [{"to": "x", "counted": True, "checks": ["leaf"]}],
                "history": "keep_base",
                "returns": [{"is": "x"}],
            },
        ),
        ("product", {"args": ["x", "w"], "saves": [{"of": "x"}, {"of": "w"}], "returns": [{"is": "fresh"}]}),
        ("heads", {"args": ["x", "n=2"], "returns": [{"is": "view", "of": "x"}]}),
        ("root", {"args": ["x"], "saves": [{"of": "out0"}], "returns": [{"is": "fresh"}]}),
        ("cut", {"args": ["x"], "grads": [], "returns": [{"is": "fresh"}]}),
        ("shown", {"args": ["x"], "grads": [], "returns": [{"is": "view", "of": "x", "kind": "detach"}]}),
        ("square", {"args": ["x"], "saves": [{"of": "x", "checked": False}], "returns": [{"is": "fresh"}]}),
    ],
)
def test_an_operator_of_paddle_is_seen_as_well(probe, folder, name, seen):
    (folder / "my_layers.py").write_text(OF_PADDLE)
    ran = probe(f"my_layers:{name}")
    assert ran.status == 0, ran.err
    fact = json.loads(ran.out)
    assert fact.pop("source").startswith("run on paddle ")
    assert len(fact.pop("probed")) == 1
    assert fact == {"op": f"my_layers.{name}", **seen}


def test_keywords_that_a_function_collects_are_passed_on(probe, folder):
    (folder / "my_kwargs.py").write_text("def f(x, **sizes):\n    return x.reshape(sizes['n'], -1)\n")
    fact = json.loads(probe("my_kwargs:f", "--args", "torch.rand(4, 2), n=2").out)
    assert (fact["args"], fact["returns"]) == (["x", "**sizes"], [{"is": "view", "of": "x"}])


def test_arguments_are_given_as_in_a_call(probe):
    ran = probe("my_ops:masked", "--args", "torch.rand(2, 4), mask=torch.rand(2, 4) > 0.5")
    fact = json.loads(ran.out)
    assert fact["saves"] == [{"of": "mask"}]
    assert fact["returns"] == [{"is": "tuple", "items": [{"is": "fresh"}, {"is": "view", "of": "x", "kind": "detach"}]}]


@pytest.mark.parametrize(
    ("name", "arguments", "seen"),
    [
        ("copied", "torch.ones(3), torch.ones(3)", {"writes": [{"to": "x", "counted": False}]}),
        ("step", "[torch.rand(3), torch.rand(2)], 0.1", {"writes": [{"to": "params", "counted": False}]}),
        ("bumped", "torch.rand(3), torch.rand(3)", {"args": ["*tensors"]}),
        ("picked", "[torch.rand(3), torch.rand(3)]", {"returns": [{"is": "maybe", "of": "tensors"}]}),
        ("packet", "torch.rand(3), torch.rand(3)", {"args": ["self", "other"], "saves": [{"of": "other"}]}),
    ],
)
def test_tensors_are_seen_wherever_they_are_passed(probe, name, arguments, seen):
    fact = json.loads(probe(f"my_ops:{name}", "--args", arguments).out)
    for one in fact.get("writes", ()):
        one.pop("checks", None)
    assert {key: fact[key] for key in seen} == seen


def test_an_entry_takes_the_place_of_the_older_one(probe, folder):
    said = '{"op": "my_ops.scaled_", "if": "no(x)", "source": "the author"}'
    (folder / "ops.jsonl").write_text(said)
    for name in ("scaled_", "raw_", "scaled_"):
        probe(f"my_ops:{name}", "-o", "ops.jsonl")
    first, *rows = (folder / "ops.jsonl").read_text().splitlines()
    assert (first, [json.loads(row)["op"] for row in rows]) == (said, ["my_ops.raw_", "my_ops.scaled_"])


def test_facts_are_added_to_a_file_that_a_project_can_name(probe, lint, folder):
    for name in ("scaled_", "raw_"):
        assert lint("facts", "probe", f"my_ops:{name}", "--python", sys.executable, "-o", "ops.jsonl").out == ""
    assert len((folder / "ops.jsonl").read_text().splitlines()) == 2
    (folder / "my_ops.py").unlink()
    (folder / "inplace-lint.toml").write_text('facts = ["ops.jsonl"]\n')
    program = (
        "import torch\nimport my_ops\n\ny = torch.rand(3, requires_grad=True).exp()\nmy_ops.{}(y)\ny.sum().backward()\n"
    )
    for name, found in (("scaled_", "error[IPL101]"), ("raw_", "warning[IPL302]")):
        (folder / "a.py").write_text(program.format(name))
        assert f"a.py:5:1: {found}" in lint("--output-format=concise", "a.py").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("my_ops",), "'my_ops' is not a `module:function`"),
        (("no_ops:f",), "no_ops:f: ModuleNotFoundError: No module named 'no_ops'"),
        (("my_ops:nope",), "my_ops:nope: AttributeError: module 'my_ops' has no attribute 'nope'"),
        (
            ("my_ops:broken",),
            "my_ops:broken: no arguments were found that it takes; give them with --args (ValueError: never)",
        ),
        (("my_ops:heads", "--args", "torch.rand(3)"), "my_ops:heads: it does not take these arguments (RuntimeError: "),
        (("my_ops:heads", "--args", "torch.rand("), "--args: SyntaxError: "),
        (("my_ops:Hiding",), "my_ops:Hiding: it is a class; write a function around it"),
        (
            ("my_ops:relu",),
            "my_ops:relu: it is a module, and what becomes of its parameters would not be seen; write a function",
        ),
        (
            ("my_ops:first_of", "--args", "[torch.rand(3), torch.rand(3)]"),
            "my_ops:first_of: it writes only some of the tensors in 'tensors', or not all of them alike, which no fact",
        ),
        (("my_ops:gathered",), "my_ops:gathered: it returns tensors in a dict, which no fact can say"),
    ],
)
def test_what_cannot_be_called_is_one_line(probe, words, message):
    ran = probe(*words)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"error: {message}")
