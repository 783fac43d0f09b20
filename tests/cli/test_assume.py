"""What is told only where somebody in sight asks for the gradient that a finding assumes, and with `--assume grad`."""

from __future__ import annotations

import json

import pytest

HELPER = """\
import torch


def scale(x):
    y = x.exp()
    y += 1
    return y
"""
NET = """\
from torch import nn

from helper import scale


class Net(nn.Module):
    def forward(self, x):
        return scale(x) if self.training else x
"""
STEP = """\
import helper


def step(net, x):
    for batch in x:
        helper.scale(net(batch)).sum().backward()
"""
EVALUATION = """\
from helper import scale


def report(rows):
    return [scale(row).tolist() for row in rows]
"""
QUIET = (0, "All checks passed! (1 more with `--assume grad`)\n", "")


@pytest.fixture
def tree(folder):
    (folder / "pyproject.toml").write_text("")
    (folder / "helper.py").write_text(HELPER)
    return folder


def test_a_function_with_nobody_in_sight_is_counted_and_not_told(lint, tree):
    assert lint(".") == QUIET
    (tree / "evaluation.py").write_text(EVALUATION)
    assert lint(".") == QUIET


@pytest.mark.parametrize("user", [NET, STEP])
def test_somebody_who_trains_through_it_is_told(lint, tree, user):
    (tree / "user.py").write_text(user)
    for path in (".", "helper.py"):
        ran = lint("--output-format=concise", path)
        assert ran.status == 1
        assert ran.out.startswith("helper.py:6:5: warning[IPL101]")


IMPORTS = {
    "a module of the package": ("from package import helper", "helper.scale"),
    "a module under another name": ("from package import helper as other", "other.scale"),
    "a module of the own package": ("from . import helper", "helper.scale"),
    "what the package exports": ("from package import scale", "scale"),
    "the package": ("import package", "package.scale"),
    "the package of a part": ("import package.helper", "package.scale"),
}


@pytest.mark.parametrize(("line", "called"), IMPORTS.values(), ids=IMPORTS)
def test_somebody_who_trains_through_it_is_told_whatever_is_imported(lint, folder, line, called):
    (folder / "pyproject.toml").write_text("")
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from .helper import scale\n")
    (package / "helper.py").write_text(HELPER)
    (package / "net.py").write_text(NET.replace("from helper import scale", line).replace("scale(x)", f"{called}(x)"))
    for path in (".", "package/helper.py"):
        assert lint("--output-format=concise", path).out.startswith("package/helper.py:6:5: warning[IPL101]")


def test_a_file_that_trains_is_told_of_its_own_functions(lint, tree):
    (tree / "helper.py").write_text(HELPER + "\n\ndef fit(net, x):\n    net(x).backward()\n")
    assert lint(".").status == 1


def test_the_option_and_the_setting_tell_it(lint, tree):
    assert lint("--assume", "grad", ".").status == 1
    (tree / "inplace-lint.toml").write_text('assume = ["grad"]\n')
    assert lint(".").status == 1


def test_a_wrong_assumption_is_refused(lint, tree):
    (tree / "inplace-lint.toml").write_text('assume = ["gradient"]\n')
    assert "must be one of grad, no-grad, unknown, not 'gradient', did you mean 'grad'?" in lint(".").err


def test_a_comment_that_silences_what_is_not_told_is_not_unused(lint, tree):
    (tree / "helper.py").write_text(HELPER.replace("y += 1", "y += 1  # noqa: IPL101"))
    assert lint("--select", "IPL1,IPL901", ".") == (0, "All checks passed!\n", "")


def test_a_second_run_from_the_cache_says_the_same(lint, tree):
    assert lint(".") == lint(".") == QUIET


DETECTOR = """\
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)

    def decode(self, boxes):
        width = boxes.exp()
        width += 1
        return width
"""
IN_EVALUATION = {
    "else": "        if self.training:\n            return out.sum()\n        else:\n            return DECODED\n",
    "after a return": "        if self.training:\n            return out.sum()\n        return DECODED\n",
    "not": "        if not self.training and self.decodes:\n            out = DECODED\n        return out\n",
    "or": "        if not (self.training or self.exports):\n            out = DECODED\n        return out\n",
    "expression": "        return out if self.training else DECODED\n",
    "through another": "        return out if self.training else self.result(out)\n\n"
    "    def result(self, out):\n        return DECODED\n",
    "predict": "        return out\n\n    def predict(self, x):\n        return self.head.decode(self.head(x))\n",
    "is there": "        if self.head.decode is not None and not self.training:\n"
    "            self.head.decode.most = 3\n            out = DECODED\n        return out\n",
}
WITH_TARGET = """\
        if self.training and target is None:
            raise ValueError
        if {test}:
            return out.sum()
        return DECODED
"""
IN_TRAINING = {
    "always": "        return DECODED\n",
    "both": "        if self.training:\n            return DECODED\n        return DECODED * 2\n",
    "another option": "        return out if self.exports else DECODED\n",
    "and": "        if not (self.training and self.exports):\n            out = DECODED\n        return out\n",
    "handed on": "        use = self.head.decode\n        return use(out)\n",
    "through another": "        return self.result(out)\n\n    def result(self, out):\n        return DECODED\n",
}
MODEL = """\
from head import Head
from torch import nn


class Model(nn.Module):
    def __init__(self, exports, decodes):
        super().__init__()
        self.head, self.exports, self.decodes = Head(), exports, decodes

    def forward(self, x):
        out = self.head(x)
"""


@pytest.mark.parametrize("body", IN_EVALUATION.values(), ids=IN_EVALUATION)
def test_a_method_that_the_project_runs_in_evaluation_only_is_counted_and_not_told(lint, tree, body):
    (tree / "head.py").write_text(DETECTOR)
    (tree / "model.py").write_text(MODEL + body.replace("DECODED", "self.head.decode(out)"))
    for path in (".", "head.py"):
        status, out, _ = lint("--output-format=concise", "--exclude", "helper.py", path)
        assert (status, out) == QUIET[:2]


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("DECODED if mode == 'predict' else out", False),
        ("out if mode != 'predict' else DECODED", False),
        ("out if mode == 'predict' else DECODED", True),
        ("DECODED if mode == 'loss' else out", True),
    ],
)
def test_a_method_that_the_project_runs_in_a_mode_of_inference_only_is_counted_and_not_told(lint, tree, returned, told):
    (tree / "head.py").write_text(DETECTOR)
    model = MODEL.replace("Head()", "head").replace("self, exports", "self, head, exports").replace("x):", "x, mode):")
    (tree / "model.py").write_text(f"{model}        return {returned}\n".replace("DECODED", "self.head.decode(out)"))
    assert ("head.py:15:9: " in lint("--output-format=concise", "--exclude", "helper.py", ".").out) is told


@pytest.mark.parametrize(
    ("test", "told"),
    [("target is not None", False), ("not target is None", False), ("target is None", True), ("self.exports", True)],
)
def test_what_training_leaves_without_is_evaluation(lint, tree, test, told):
    (tree / "head.py").write_text(DETECTOR)
    model = (
        MODEL.replace("Head()", "head").replace("self, exports", "self, head, exports").replace("x):", "x, target):")
    )
    body = WITH_TARGET.format(test=test).replace("DECODED", "self.head.decode(out)")
    (tree / "model.py").write_text(model + body)
    assert ("head.py:15:9: " in lint("--output-format=concise", "--exclude", "helper.py", ".").out) is told


@pytest.mark.parametrize("body", IN_TRAINING.values(), ids=IN_TRAINING)
def test_a_method_that_may_be_trained_through_is_told(lint, tree, body):
    (tree / "head.py").write_text(DETECTOR)
    (tree / "model.py").write_text(MODEL + body.replace("DECODED", "self.head.decode(out)"))
    assert "head.py:15:9: " in lint("--output-format=concise", "--exclude", "helper.py", ".").out


def test_a_method_that_nothing_uses_is_counted_and_not_told(lint, tree):
    (tree / "head.py").write_text(DETECTOR)
    assert lint("head.py")[:2] == QUIET[:2]


def test_a_function_that_a_module_calls_in_evaluation_only_is_not_told(lint, tree):
    (tree / "user.py").write_text(NET.replace("if self.training", "if not self.training"))
    assert lint(".") == QUIET


LOSS = """\
import torch


class Loss:
    def __call__(self, out, target):
        scale = target.exp()
        scale += 1
        return (out * scale).sum()

"""
FIT = """\
from loss import Loss


def fit(net, loader, extra):
    measure = Loss()
    for images, wanted in loader:
        wanted = wanted.to("cpu")
        loss = {call}
        loss.backward()
"""
FILTER = """\
import torch
from helper import scale


class Filter(torch.nn.Module):
    def forward(self, x):
        {call}
        return x * weight
"""


@pytest.mark.parametrize(
    "call",
    [
        "measure(net(images), wanted)",
        "measure(net(images), 2 * wanted[:, 0].float() - 1)",
        "measure(net(images), target=wanted) + measure(net(images), extra)",
    ],
)
def test_what_calls_pass_data_for_has_no_gradient(lint, tree, call):
    (tree / "loss.py").write_text(LOSS)
    (tree / "fit.py").write_text(FIT.format(call=call))
    assert lint(".") == (0, "All checks passed! (2 more with `--assume grad`)\n", "")
    (tree / "fit.py").write_text(FIT.format(call="measure(net(images), extra)"))
    assert "loss.py:7:9: warning[IPL101]" in lint("--output-format=concise", ".").out


STATIC = """\
import torch


class Loss:
    @staticmethod
    def of(target):
        scale = target.exp()
        scale += 1
        return scale.sum()

"""


def test_the_first_argument_of_a_static_method_may_be_data(lint, tree):
    (tree / "loss.py").write_text(STATIC)
    (tree / "fit.py").write_text(FIT.format(call="net(images) * Loss.of(wanted)"))
    assert lint(".") == (0, "All checks passed! (2 more with `--assume grad`)\n", "")
    (tree / "fit.py").write_text(FIT.format(call="net(images) * Loss.of(extra)"))
    assert "loss.py:8:9: warning[IPL101]" in lint("--output-format=concise", ".").out


NOISE = """\
import torch
from helper import scale
from torch import nn


class Noise(nn.Module):
    def __init__(self, size, low={low}, high=1.0):
        super().__init__()
        self.low, self.size = {kept}, size
        self.high = high

    def forward(self, x):
        width = self.high - 0.5
        for one in torch.rand(3) * width + self.high:
            x = x * scale(one{more})
        return x
"""


def test_what_is_made_of_numbers_that_an_object_keeps_is_data(lint, tree):
    (tree / "noise.py").write_text(NOISE.format(low=0.1, kept="low", more=""))
    assert lint(".") == QUIET
    (tree / "noise.py").write_text(NOISE.format(low=0.1, kept="low", more=" * self.size"))
    assert "helper.py:6:5: warning[IPL101]" in lint("--output-format=concise", ".").out
    (tree / "noise.py").write_text(
        NOISE.format(low=0.1, kept="low", more="") + "\n    def tie(self, x):\n        self.high = x\n"
    )
    assert "helper.py:6:5: warning[IPL101]" in lint("--output-format=concise", ".").out


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("weight = torch.zeros(x.size(0)); weight = scale(weight)", False),
        ("kept = torch.full(x.shape, x.size(0)); kept[0] = 1; weight = scale(kept[1:])", False),
        ("kept = torch.zeros(x.size(0)); kept[0] = x[0]; weight = scale(kept)", True),
        ("kept = torch.zeros(x.size(0), requires_grad=True); weight = scale(kept)", True),
        ("kept = torch.zeros(x.size(0)); kept.requires_grad_(); weight = scale(kept)", True),
        ("kept = torch.zeros(x.size(0)); kept.requires_grad = True; weight = scale(kept)", True),
    ],
)
def test_what_a_function_of_the_framework_made_is_data_until_something_else_is_put_in(lint, tree, made, told):
    (tree / "filter.py").write_text(FILTER.format(call=made))
    found = lint("--output-format=concise", ".").out
    assert ("helper.py:6:5: " in found) is told, found


@pytest.mark.parametrize(
    "call",
    [
        "measure(net(images), extra)",
        "measure(net(images), net(wanted))",
        "measure(net(images), wanted) + measure(wanted, net.head(images))",
        "measure(*net(images))",
        "sum(measure(images, one) for one in net(images))",
    ],
)
def test_what_calls_may_pass_a_gradient_for_is_told(lint, tree, call):
    (tree / "loss.py").write_text(LOSS)
    (tree / "fit.py").write_text(FIT.format(call=call))
    assert "loss.py:7:9: warning[IPL101]" in lint("--output-format=concise", ".").out


def test_what_runs_without_gradients_only_is_counted_and_not_told(lint, tree):
    (tree / "filter.py").write_text(FILTER.format(call="weight = scale(x)"))
    assert lint(".").status == 1
    for mode in ("no_grad", "inference_mode"):
        (tree / "filter.py").write_text(FILTER.format(call=f"with torch.{mode}():\n            weight = scale(x)"))
        assert lint(".") == QUIET


SCALED = """\
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def bound(self, low=0):
        self.scale.clamp_(low)

    def forward(self, x):
        return x * self.scale
"""
USER = """\
import torch
from modes import frozen
from scaled import Scaled


class Trainer:
    def __init__(self):
        self.net = Scaled()

    def bound(self, low):
        return low

{method}
"""
UNRECORDED = {
    "with": "    def step(self):\n        with torch.no_grad():\n            self.net.bound()\n",
    "decorator": "    @torch.no_grad()\n    def step(self):\n        self.net.bound(self.bound(1))\n",
    "of its own name": "\n\nclass Blocks:\n    @torch.no_grad()\n    def bound(self, blocks):\n"
    "        for block in blocks:\n            block.bound()\n",
    "beside another class": "    def step(self):\n        self.own = Trainer()\n        self.own.bound(1)\n"
    "        with torch.no_grad():\n            self.net.bound()\n",
    "through another": "    @torch.no_grad()\n    def step(self):\n        self.keep()\n\n"
    "    def keep(self):\n        self.net.bound()\n",
    "by name": "    @torch.no_grad()\n    def step(self):\n        getattr(self.net, 'bound')()\n",
    "not recorded": "    def step(self):\n        if not torch.is_grad_enabled():\n            self.net.bound()\n",
    "not recorded and more": "    def step(self, first):\n        if first and not torch.is_grad_enabled():\n"
    "            self.net.bound()\n",
    "inference": "    def step(self):\n        if torch.is_inference_mode_enabled():\n            self.net.bound()\n",
    "after return": "    def step(self):\n        if torch.is_grad_enabled():\n            return\n"
    "        self.net.bound()\n",
    "after raise": "    def step(self):\n        if torch.is_grad_enabled():\n            raise RuntimeError\n"
    "        self.net.bound()\n",
    "variable": "    def step(self):\n        recording = torch.is_grad_enabled()\n        if not recording:\n"
    "            self.net.bound()\n",
    "variable of another": "    def step(self, first):\n        recording = torch.is_grad_enabled()\n"
    "        due = first and not recording\n        if due:\n            self.net.bound()\n",
    "variable and return": "    def step(self):\n        recording = torch.is_grad_enabled()\n        if recording:\n"
    "            return\n        self.net.bound()\n",
    "walrus": "    def step(self):\n        if not (recording := torch.is_grad_enabled()):\n"
    "            self.net.bound()\n"
    "        return recording\n",
    "attribute": "    def step(self):\n        self.recording = torch.is_grad_enabled()\n"
    "        if not self.recording:\n"
    "            self.net.bound()\n",
    "item": "    def step(self):\n        modes = {'grad': torch.is_grad_enabled()}\n        if not modes['grad']:\n"
    "            self.net.bound()\n",
    "method": "    def step(self):\n        if not self.records():\n            self.net.bound()\n\n"
    "    def records(self):\n        return torch.is_grad_enabled()\n",
}
WHERE_CALLED = "gradients are recorded where `bound` is called"
HANDED_ON = {
    "argument": ("    def step(self, run):\n        run(self.net.bound)\n", WHERE_CALLED),
    "by name": ("    def step(self, run):\n        run(self.net, 'bound')\n", WHERE_CALLED),
    "of something": (
        "    def step(self, it):\n        it.bound(1)\n        with torch.no_grad():\n            self.net.bound()\n",
        WHERE_CALLED,
    ),
    "context": (
        "    def step(self, mode):\n        with mode():\n            self.net.bound()\n",
        "`mode` leaves gradients on",
    ),
    "decorator": ("    @frozen\n    def step(self):\n        self.net.bound()\n", "`frozen` leaves gradients on"),
    "below one": (
        "    @frozen\n    def step(self):\n        self.keep()\n\n    def keep(self):\n        self.net.bound()\n",
        WHERE_CALLED,
    ),
}
RECORDED = {
    "called": "    def step(self):\n        self.net.bound()\n",
    "open": "    @staticmethod\n    def step(net):\n        with open('log') as log:\n            net.bound()\n",
    "autocast": "    def step(self):\n        with torch.autocast('cpu'):\n            self.net.bound()\n",
    "both": "    def step(self):\n        self.net.bound()\n"
    "        with torch.no_grad():\n            self.net.bound()\n",
    "own method only": "    def step(self):\n        with torch.no_grad():\n            self.bound(1)\n",
    "recorded": "    def step(self):\n        if torch.is_grad_enabled():\n            self.net.bound()\n",
    "either": "    def step(self, first):\n        if first or not torch.is_grad_enabled():\n"
    "            self.net.bound()\n",
    "checkpointing": "    def step(self, kept):\n        if torch.is_grad_enabled() and kept:\n            return\n"
    "        self.net.bound()\n",
    "training": "    def step(self):\n        if not self.training:\n            self.net.bound()\n",
    "variable": "    def step(self):\n        recording = torch.is_grad_enabled()\n        if recording:\n"
    "            self.net.bound()\n",
    "variable that is set twice": "    def step(self, first):\n        recording = torch.is_grad_enabled()\n"
    "        if first:\n            recording = False\n        if not recording:\n            self.net.bound()\n",
    "argument": "    def step(self, recording):\n        if not recording:\n            self.net.bound()\n",
    "turned on after": "    def step(self):\n        before = torch.is_grad_enabled()\n"
    "        with torch.enable_grad():\n"
    "            if not before:\n                self.net.bound()\n",
    "attribute before": "    def step(self):\n        if not self.recording:\n            self.net.bound()\n"
    "        self.recording = torch.is_grad_enabled()\n",
    "item of another": "    def step(self):\n        modes = {'grad': torch.is_grad_enabled(), 'step': 0}\n"
    "        if not modes['step']:\n            self.net.bound()\n",
}


@pytest.mark.parametrize("method", UNRECORDED.values(), ids=UNRECORDED)
def test_a_method_that_the_project_calls_without_gradients_only_is_not_refused(lint, tree, method):
    (tree / "scaled.py").write_text(SCALED)
    (tree / "user.py").write_text(USER.format(method=method))
    for path in (".", "scaled.py"):
        assert lint("--output-format=concise", "--exclude", "helper.py", path)[:2] == QUIET[:2]


@pytest.mark.parametrize(("method", "assumption"), HANDED_ON.values(), ids=HANDED_ON)
def test_that_a_method_which_is_handed_on_records_gradients_is_an_assumption(lint, tree, method, assumption):
    (tree / "scaled.py").write_text(SCALED)
    (tree / "user.py").write_text(USER.format(method=method))
    out = lint("--output-format=full", "--exclude", "helper.py", "scaled.py").out
    assert "warning[IPL201]" in out
    assert assumption in out


@pytest.mark.parametrize("method", RECORDED.values(), ids=RECORDED)
def test_a_method_that_may_be_called_where_gradients_are_recorded_is_refused(lint, tree, method):
    (tree / "scaled.py").write_text(SCALED)
    (tree / "user.py").write_text(USER.format(method=method))
    assert "error[IPL201]" in lint("--output-format=concise", "--exclude", "helper.py", "scaled.py").out


SHARDS = """\
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def fill(self, value):
        self.weight.copy_(value)

    def load(self, values):
        self.fill(values["weight"])


def fill_first(layer: Layer, values):
    layer.fill(values[0])


TABLE = {}
TABLE.setdefault("first", fill_first)
"""
LOADING = """\
import torch
from shards import TABLE, Layer


def restore(state):
    layer = Layer()
    {mode}:
        layer.load(state)
    return layer
"""


def test_a_function_in_a_table_is_not_refused_where_what_it_calls_runs_without_gradients_elsewhere(lint, tree):
    (tree / "shards.py").write_text(SHARDS)
    (tree / "loading.py").write_text(LOADING.format(mode="with torch.no_grad()"))
    assert lint("--output-format=concise", "--exclude", "helper.py", "shards.py")[:2] == QUIET[:2]
    (tree / "loading.py").write_text(LOADING.format(mode="if state"))
    assert "[IPL201]" in lint("--output-format=concise", "--exclude", "helper.py", "shards.py").out


HALVES = """\
from torch import nn


class Halves(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        left, right = self.layer(x).split([2, 2], dim=1)
        return left.tanh() + right.relu_()
"""
MAKER = """\
from halves import Halves
from torch import nn


def build(width):
    return Halves(nn.Linear(width, 4))
"""
MAKING = """\
from built import build
from modes import frozen

__all__ = ["large"]


@frozen
def large():
    return build(8)
"""


def test_gradients_are_recorded_where_a_module_is_called_not_where_it_is_made(lint, tree):
    for name, text in {"halves": HALVES, "built": MAKER, "user": MAKING}.items():
        (tree / f"{name}.py").write_text(text)
    assert "error[IPL203]" in lint("--output-format=concise", "--exclude", "helper.py", "halves.py").out


FORWARD = "    def forward(self, x):\n        self.scale.clamp_(0)\n        return x * self.scale\n"
CALLED = """\
import torch
from scaled import Scaled


class Trainer:
    def __init__(self):
        self.net = Scaled()

    @torch.no_grad()
    def step(self, x):
        return self.net(x)
"""


def test_a_module_that_the_project_calls_without_gradients_only_is_not_refused(lint, tree):
    (tree / "scaled.py").write_text(SCALED.partition("    def bound")[0] + FORWARD)
    (tree / "user.py").write_text(CALLED)
    assert lint("--output-format=concise", "--exclude", "helper.py", "scaled.py")[:2] == QUIET[:2]
    (tree / "user.py").write_text(CALLED.replace("    @torch.no_grad()\n", ""))
    assert "error[IPL201]" in lint("--output-format=concise", "--exclude", "helper.py", "scaled.py").out


ATTACK = """\
import torch


class Attack:
    def __init__(self, net):
        self.net = net

    def project(self, points, plane):
        w = plane.clone()
        c = (w * points).sum(1)
        w[c < 0] *= -1
        return points - c.unsqueeze(1) * w

    def run(self, x, norm):
        {call}
        self.net(x).sum().backward()
        return x
"""


def test_a_method_of_a_plain_class_that_runs_without_gradients_only_is_counted_and_not_told(lint, tree):
    choose = "x = getattr(self, norm, self.project)(x, x)"
    (tree / "attack.py").write_text(ATTACK.format(call=choose))
    assert "attack.py:11:9: warning[IPL101]" in lint("--output-format=concise", "attack.py").out
    (tree / "attack.py").write_text(ATTACK.format(call=f"with torch.no_grad():\n            {choose}"))
    assert lint("attack.py") == QUIET
    (tree / "other.py").write_text("def adapt(attack, x):\n    attack.project(x, attack.net(x)).sum().backward()\n")
    assert "attack.py:11:9: warning[IPL101]" in lint("--output-format=concise", "attack.py").out


DENSITY = """\
import torch
from torch import nn


class Density(nn.Module):
    def fit(self, x):
        scale = torch.prod(x.std(dim=0))
        scale *= 2.0
        self.scale = scale

    def forward(self, x):
        return x / self.scale
"""
DETECTOR_OF = """\
from density import Density
from torch import nn
import torch


class Ridge:
    def fit(self, x):
        return x


class Detector{bases}:
    def __init__(self):
        {make}
        self.ridge, self.later = Ridge(), {{}}

    def collect(self, images):
        {collect}

    def forward(self, x):
        {forward}
"""
MAKE = "self.density = Density()"
COLLECT = "self.density.fit(images)"
TO_NO_TRAINING = {
    "nobody": ("", COLLECT, "return self.density(x)"),
    "another class": ("", COLLECT, "return Ridge.fit(self.ridge, x)"),
    "a function": ("", COLLECT, "return torch.fit(x)"),
    "an attribute": ("", "self.fit = " + COLLECT, "return self.fit(x)"),
    "evaluation": ("", COLLECT, "return x if self.training else self.density.fit(x)"),
    "passed on": ("", "return torch.func.vmap(self.density.fit)(images)", "return x"),
    "a hook": ("(nn.Module)", "self.register_forward_hook(self.density.fit)", "return x"),
}
TO_TRAINING = {
    "a module": ("(nn.Module)", COLLECT, "return self.collect(x)"),
    "backward": ("", COLLECT + ".sum().backward()", "return x"),
    "another library": ("(nn.Sequential)", COLLECT, "return x"),
}


@pytest.mark.parametrize("parts", TO_NO_TRAINING.values(), ids=TO_NO_TRAINING)
def test_a_method_of_which_no_use_is_seen_to_lead_to_training_is_counted_and_not_told(lint, tree, parts):
    bases, collect, forward = parts
    (tree / "density.py").write_text(DENSITY)
    (tree / "detector.py").write_text(DETECTOR_OF.format(bases=bases, make=MAKE, collect=collect, forward=forward))
    assert lint("density.py")[:2] == QUIET[:2]


@pytest.mark.parametrize("parts", TO_TRAINING.values(), ids=TO_TRAINING)
def test_a_method_of_which_a_use_leads_to_training_is_told(lint, tree, parts):
    bases, collect, forward = parts
    (tree / "density.py").write_text(DENSITY)
    (tree / "detector.py").write_text(DETECTOR_OF.format(bases=bases, make=MAKE, collect=collect, forward=forward))
    assert "density.py:8:9: warning[IPL101]" in lint("--output-format=concise", "density.py").out


def test_a_method_of_an_unknown_object_may_be_of_any_class_that_has_one_of_this_name(lint, tree):
    (tree / "density.py").write_text(DENSITY)
    net = DETECTOR_OF.format(
        bases="(nn.Module)", make="self.density, self.n = Density(), 1", collect=COLLECT, forward="self.collect(x)"
    )
    (tree / "detector.py").write_text(net)
    (tree / "data.py").write_text("from detector import Detector\n")
    assert lint("density.py")[:2] == QUIET[:2]
    (tree / "detector.py").write_text(net.replace("def fit", "def adapt"))  # only one class is left
    assert "density.py:8:9: warning[IPL101]" in lint("--output-format=concise", "density.py").out


ENCODERS = """\
from torch import nn


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj, self.out = nn.Linear(4, 4), nn.Linear(4, 4)

    def features(self, x):
        y = self.proj(x).sigmoid()
        y += x
        return self.out(y)

    def forward(self, x):
        return self.missing(x)


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Plain()

    def features(self, x):
        return self.inner(x)
"""
CLASSIFIER = """\
from torch import nn

from registry import build


class Classifier(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder, self.head = build(cfg), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.encoder.features(x))
"""


def test_a_network_that_is_built_somewhere_may_be_any_that_has_the_method_if_nothing_else_has_one(lint, tree):
    (tree / "encoders.py").write_text(ENCODERS)
    (tree / "classifier.py").write_text(CLASSIFIER)
    assert "encoders.py:11:9: error[IPL101]" in lint("--output-format=concise", "encoders.py").out
    (tree / "text.py").write_text("class Text:\n    def features(self, words):\n        return words\n")
    assert lint("encoders.py")[:2] == QUIET[:2]


def test_a_method_that_returns_a_number_is_told_if_nothing_shows_where_it_leads(lint, tree):
    (tree / "density.py").write_text(DENSITY.replace("self.scale = scale", "return x * scale"))
    assert lint("density.py")[:2] == QUIET[:2]
    (tree / "density.py").write_text(DENSITY.replace("self.scale = scale", "return scale"))
    assert "density.py:8:9: warning[IPL101]" in lint("--output-format=concise", "density.py").out


def test_a_method_of_a_module_that_is_not_called_is_told_if_somebody_trains_through_it(lint, tree):
    (tree / "search.py").write_text(DETECTOR.replace("def forward", "def widths"))
    assert lint("search.py")[:2] == QUIET[:2]
    use = "from search import Head\n\n\ndef step(x):\n    head = Head()\n    head.decode(x).sum().backward()\n"
    (tree / "use.py").write_text(use)
    assert "search.py:15:9: warning[IPL101]" in lint("--output-format=concise", "search.py").out


def test_a_module_without_parameters_that_is_used_but_by_no_module_is_counted_and_not_told(lint, tree):
    act = "import torch\nfrom torch import nn\n\n\nclass Act(nn.Module):\n    def forward(self, x):\n"
    act += "        y = x.exp()\n        y += 1\n        return y\n"
    (tree / "act.py").write_text(act)
    (tree / "step.py").write_text(STEP)
    assert "act.py:8:9: warning[IPL101]" in lint("--output-format=concise", "act.py").out  # nobody is in sight
    (tree / "data.py").write_text("from act import Act\n\n\ndef prepare(x):\n    return Act()(x)\n")
    assert lint("act.py")[:2] == QUIET[:2]
    net = "from act import Act\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
    net += "        super().__init__()\n        self.act = Act()\n\n"
    net += "    def forward(self, x):\n        return self.act(x)\n"
    (tree / "net.py").write_text(net)
    assert "act.py:8:9: warning[IPL101]" in lint("--output-format=concise", "act.py").out


BUILDERS = """\
from helper import scale
from torch import nn


def build(batch):
    return nn.Linear(len(scale(batch)), 4)


BUILDERS = {"one": build}


def make(name, batch):
    return BUILDERS[name](batch)


class Net(nn.Module):
    def __init__(self, batch):
        super().__init__()
        self.net = make("one", batch)

    def forward(self, x):
        return self.net(x)
"""


def test_what_only_constructors_call_in_the_end_is_counted_and_not_told(lint, tree):
    (tree / "helper.py").write_text(HELPER + "\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n")
    (tree / "net.py").write_text(BUILDERS)
    assert lint("helper.py")[:2] == QUIET[:2]
    (tree / "step.py").write_text("from net import make\n\n\ndef step(x):\n    make('one', x)(x).backward()\n")
    assert "helper.py:6:5: warning[IPL101]" in lint("--output-format=concise", "helper.py").out
    (tree / "step.py").write_text("from helper import scale as scaled\n\n\ndef step(x):\n    return scaled(x)\n")
    assert lint("helper.py")[:2] == QUIET[:2]


CUSTOM = """\
import torch
from helper import scale


class Scale(torch.autograd.{base}):
    @staticmethod
    def forward(ctx, x):
        return scale(x)

    @staticmethod
    def backward(ctx, grad):
        return grad
"""


def test_what_only_custom_functions_run_is_counted_and_not_told(lint, tree):
    net = "\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    (tree / "helper.py").write_text(HELPER + net)
    (tree / "custom.py").write_text(CUSTOM.format(base="graph.Node"))
    assert "helper.py:6:5: warning[IPL101]" in lint("--output-format=concise", ".").out
    (tree / "custom.py").write_text(CUSTOM.format(base="Function"))
    assert lint(".") == QUIET


TRANSFORM = """\
from helper import scale
from torch import nn


class Transform(nn.Module):
    def forward(self, x):
        return scale(x)


class Resize(Transform):
    def __init__(self, size):
        super().__init__()
        if size < 0:
            raise ValueError(size)
        self.size = size
"""


def test_a_module_that_makes_nothing_with_parameters_is_nobody_who_trains(lint, tree):
    (tree / "data.py").write_text("from transform import Resize\n\n\ndef prepare(x):\n    return Resize(3)(x)\n")
    (tree / "transform.py").write_text(TRANSFORM)
    assert lint("helper.py")[:2] == QUIET[:2]
    start = "class Transform(nn.Module):\n"
    made = "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n\n"
    (tree / "transform.py").write_text(TRANSFORM.replace(start, start + made))
    assert "helper.py:6:5: warning[IPL101]" in lint("--output-format=concise", "helper.py").out


OPERATOR = """\
import torch
from {module} import scale


@torch.library.custom_op("mine::attend", mutates_args=())
def attend(x: torch.Tensor, side: str) -> torch.Tensor:
    if side == "up":
        return scale(x)
    raise ValueError(side)
"""
ATTENTION = """\
from operators import attend
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.attend = attend

    def forward(self, x):
        return self.attend(self.fc(x), self.side)
"""


@pytest.mark.parametrize("together", [True, False])
def test_the_body_of_an_operator_records_nothing(lint, tree, together):
    (tree / "net.py").write_text(ATTENTION)
    own = HELPER + OPERATOR.partition("\n\n")[2]
    (tree / "operators.py").write_text(own if together else OPERATOR.format(module="helper"))
    assert lint(".").out.startswith("All checks passed!")


BOUNDED = """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, bounds=None):
        super().__init__()
        self.bounds = bounds
        self.fc = nn.Linear(3, 3)

    def sample(self, at, bounds):
        at = at.clone()
        at[..., 0:1] = at[..., 0:1] * at[..., 1:2]
        return at.exp()

    def forward(self, x):
        at = torch.linspace(0.5, 2.5 + self.bounds[0], 3)
        return self.fc(x) * self.sample(at, self.bounds)
"""


def test_a_call_that_the_defaults_refuse_shows_what_is_passed_to_other_methods(lint, tree):
    (tree / "encoder.py").write_text(BOUNDED)
    assert lint("--assume", "grad", "encoder.py").out == "All checks passed!\n"


ROWS = """\
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def place(self, x, metas):
        at = torch.arange(3.0) * metas[0]["pad"][1] / 2
        at = torch.stack([at, at])
        at[:1] = at[:1] * torch.maximum(at[1:], torch.ones(1))
        lidar = torch.stack([torch.stack(meta["lidar"]) for meta in metas])
        lidar = lidar.exp()
        lidar[..., 0] /= metas[0]["pad"][0]
        return self.fc(x) * at[0] * lidar

    def forward(self, x, metas):
        return self.place(x, metas)
"""


def test_what_a_list_of_mappings_has_is_data(lint, tree):
    (tree / "head.py").write_text(ROWS)
    assert lint("head.py").out == "All checks passed!\n"
    (tree / "head.py").write_text(ROWS.replace("metas[0]", "metas").replace("in metas]", 'in metas["rows"]]'))
    assert [line.split(": ")[0] for line in lint("--output-format=concise", "head.py").out.splitlines()[:2]] == [
        "head.py:13:9",
        "head.py:16:9",
    ]


PREDICTION = """\
from library import BaseHead
from torch import nn


class Head(BaseHead, nn.Module):
    def {name}(self, scores):
        y = scores.exp()
        y *= 2
        return y
"""


def test_what_another_library_calls_to_infer_is_not_told(lint, tree):
    (tree / "head.py").write_text(PREDICTION.format(name="message"))
    assert "head.py:8:9: warning[IPL101]" in lint("--output-format=concise", "head.py").out
    (tree / "head.py").write_text(PREDICTION.format(name="predict_by_feat"))
    assert lint("head.py") == QUIET


LIBRARY_TRAINER = """\
import torch
from library import Trainer


class Mine(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        scores = outputs.scores.sigmoid()
        scores += 1
        loss = {loss}
        return (loss, outputs) if return_outputs else loss
"""


def test_the_loss_of_a_class_of_another_library_is_told(lint, tree):
    (tree / "mine.py").write_text(LIBRARY_TRAINER.format(loss="scores.sum()"))
    assert "mine.py:9:9: warning[IPL101]" in lint("--output-format=concise", "mine.py").out
    (tree / "mine.py").write_text(LIBRARY_TRAINER.format(loss="scores"))
    assert lint("mine.py").out == "All checks passed! (1 more with `--assume grad`)\n"


MAPPING = """\
import torch
from tensordict import TensorDict


def penalty(data, control):
    batch = TensorDict({"a": data.log_probs, "b": data.mask}, batch_size=data.size).to("cpu")
    mask = batch["mask"]
    difference = (batch["old"] - batch["new"]) * mask
    control.update(torch.mean(difference, dim=0).item())
    batch["rewards"] = batch["scores"] - control.value * difference
    return batch


class Trainer:
    def fit(self, data):
        loss = penalty(data, self.control)["rewards"].sum()
        loss.backward()
"""


def test_what_is_given_items_under_texts_is_no_tensor(lint, tree):
    (tree / "penalty.py").write_text(MAPPING)
    assert lint("--assume", "grad", "penalty.py").out == "All checks passed!\n"


RANKING = """\
import torch


def ranking(scores):
    p = scores.softmax(1)
    p += 1e-10
    return p.log().mean()
"""
LOOKED_UP = """\
import losses


def fit(net, batches, kind):
    loss = getattr(losses, kind)
    for batch in batches:
        loss(net(batch)).backward()
"""
TRIED = """\
import torch

from losses import ranking


def try_it():
    assert ranking(torch.tensor([[1.0, 2.0]])).item() < 0
"""


@pytest.mark.parametrize(("user", "told"), [(LOOKED_UP, 1), (LOOKED_UP.replace("kind)", "'other')"), 0)])
def test_what_is_looked_up_by_a_name_that_is_not_known_may_be_a_loss(lint, tree, user, told):
    for name, text in {"losses.py": RANKING, "tried.py": TRIED, "fit.py": user}.items():
        (tree / name).write_text(text)
    assert lint("losses.py").out.count("IPL101") == told


TABLE = """\
import torch
from helper import scale

KINDS = {"scale": scale}


class Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, kind, x):
        return KINDS[kind](x)

    @staticmethod
    def backward(ctx, grad):
        return None, grad


def solve(kind, x):
    return Solve.apply(kind, x) if kind in KINDS else x


def fit(net, x, kind):
    KINDS[kind](net(x)).sum().backward()
"""


def test_that_a_table_has_a_key_runs_nothing_of_what_is_in_it(lint, tree):
    fit = TABLE.index("def fit")
    (tree / "solve.py").write_text(TABLE)
    assert "helper.py:6:5: error[IPL101]" in lint("--output-format=concise", "helper.py").out
    (tree / "solve.py").write_text(TABLE[:fit] + TABLE[fit:].replace("KINDS[kind]", "solve"))
    assert lint("helper.py")[:2] == QUIET[:2]


TABLED = """\
import library
import torch


def shrink(x, bound):
    norms = x.norm(p=2, dim=1, keepdim=True)
    return x.mul_((bound / norms.neg_()).add_(1).clamp_(min=0))


def attack(net, x, kind, bound):
    shrinking = {2: shrink}[kind]
    step = torch.zeros_like(x, requires_grad=True)
    for _ in range(3):
        (grad,) = torch.autograd.grad(net(x + step).sum(), step)
        step.data = shrinking(step.data - grad, bound)
    return x + step.detach()
"""


def test_what_is_only_put_into_a_table_is_not_seen_to_be_trained_through(lint, tree):
    (tree / "helper.py").write_text(TABLED)
    assert "IPL101" not in lint("helper.py").out
    (tree / "helper.py").write_text(TABLED.replace("{2: shrink}[kind]", "library.planned(shrink)"))
    assert "IPL101" in lint("helper.py").out


MADE = """\
from torch import nn

from library import Blur, Noise


class Synthesis(nn.Module):
    def __init__(self):
        super().__init__()
        self.blur = Blur(3)

    def forward(self, labels):
        x = Noise(2)(labels).exp()
        x /= x.max()
        return Noise(3)(x)
"""


def test_a_module_that_makes_what_it_calls_for_this_call_has_no_parameters_of_that(lint, tree):
    (tree / "helper.py").write_text(MADE)
    (tree / "user.py").write_text("from helper import Synthesis\n\nmake = Synthesis()\n")
    assert "IPL101" not in lint("helper.py").out
    (tree / "helper.py").write_text(MADE.replace("Noise(3)(x)", "self.blur(x)"))
    assert "IPL101" in lint("helper.py").out


def test_what_nothing_uses_is_told_in_a_file_that_trains_from_which_nothing_imports(lint, tree):
    (tree / "helper.py").write_text(HELPER + "\n\ndef fit(net, x):\n    net(x).backward()\n")
    assert lint("helper.py").status == 1
    (tree / "user.py").write_text("from helper import fit\n\nfit(print, 1)\n")
    assert lint("helper.py")[:2] == QUIET[:2]


NORMAL = """\
import torch
from torch import nn


class Normal(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        y = x.exp()
        y -= self.mean
        return y
"""
PREPARED = """\
import torch
from normal import Normal


class Prepare:
    def __init__(self):
        self.normal = Normal()

    def batch(self, x):
        with torch.no_grad():
            return self.normal(x)
"""


def test_the_input_of_a_module_that_the_project_calls_without_gradients_only_has_none(lint, tree):
    buffer = 'self.register_buffer("mean", torch.zeros(3))'
    with_parameter = NORMAL.replace(buffer, "self.mean = nn.Parameter(torch.zeros(3))")
    (tree / "normal.py").write_text(with_parameter)
    (tree / "prepare.py").write_text(PREPARED)
    assert lint("normal.py")[:2] == QUIET[:2]
    (tree / "step.py").write_text("def step(trainer, x):\n    trainer.prepare.normal(x).sum().backward()\n")
    assert "normal.py:12:9: warning[IPL101]" in lint("--output-format=concise", "normal.py").out


TESTED = """\
import torch


def test_best(net, batches):
    optimizer, low = torch.optim.SGD(net.parameters(), 0.1), 1e9
    for batch in batches:
        loss = net(batch).sum()
        if loss < low:
            best, low = net.state_dict(), loss.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.load_state_dict(best)
    leaf = torch.zeros(3, requires_grad=True)
    {refused}
    return leaf
"""


@pytest.mark.parametrize("line", ["import pytest\n", "from unittest import TestCase\n", "import torch.testing\n"])
def test_warnings_about_what_a_test_does_are_counted_and_not_told(lint, tree, line):
    (tree / "helper.py").unlink()
    (tree / "tested.py").write_text(TESTED.format(refused=""))
    assert "tested.py:12:9: warning[IPL304]" in lint("--output-format=concise", ".").out
    (tree / "tested.py").write_text(line + TESTED.format(refused=""))
    assert lint(".") == QUIET
    (tree / "tested.py").write_text(line + TESTED.format(refused="leaf += 1"))
    assert "error[IPL201]" in lint("--output-format=concise", ".").out


LAYERS = """\
from normal import Normal
from torch import nn


class Prepare:
    def __init__(self, names, inner):
        self.layers = nn.ModuleDict({name: Normal() for name in names})
        self.inner = inner

    def batch(self, batch):
        return [layer(PASSED) for name, layer in self.layers.items()]
"""


def test_what_only_has_buffers_may_prepare_data_unless_a_call_passes_what_is_trained(lint, tree):
    (tree / "normal.py").write_text(NORMAL)
    assert lint("normal.py").out.count("IPL101") == 1
    (tree / "layers.py").write_text(LAYERS.replace("PASSED", "batch[name]"))
    assert lint("normal.py")[:2] == QUIET[:2]
    (tree / "layers.py").write_text(LAYERS.replace("PASSED", "self.inner(batch[name])"))
    assert lint("normal.py").out.count("IPL101") == 1


GAMMA = """\
import torch


class Transform:
    def __call__(self, **sample):
        return self.corrected(sample["image"])


class Gamma(Transform):
    def corrected(self, image):
        low = torch.exp(image)
        low += 1
        return low
"""
IMAGES = """\
from gamma import Gamma, Transform
from torch.utils.data import Dataset, IterableDataset


class Images(BASES):
    def __init__(self, images):
        self.images = images
        self.gamma: Transform = Gamma()

    def METHOD(self, index):
        return self.gamma(image=self.images[index])


def train(net, images, batches):
    for image in batches(Images(images)):
        net(image).sum().backward()
"""


def test_nobody_trains_through_what_a_data_set_prepares(lint, tree):
    (tree / "helper.py").unlink()
    (tree / "gamma.py").write_text(GAMMA)
    for bases, method in (("Dataset", "__getitem__"), ("IterableDataset", "read"), ("list", "__getitem__")):
        (tree / "images.py").write_text(IMAGES.replace("BASES", bases).replace("METHOD", method))
        assert lint("gamma.py")[:2] == QUIET[:2], bases
    read = IMAGES.replace("BASES", "object").replace("METHOD", "read").replace("self.images[index]", "index")
    (tree / "images.py").write_text(read.replace("net(image)", "net(Images(images).read(image))"))
    assert "gamma.py:12:9: warning[IPL101]" in lint("--output-format=concise", "gamma.py").out


SOLVER = """\
import torch


def solve(apply, right, steps=4):
    rest = right.clone()
    size = torch.dot(rest, rest)
    for _ in range(steps):
        rest -= 0.1 * apply(rest)
        size = size + torch.dot(rest, rest)
    return size
"""
POLICY = """\
import torch
from solver import solve


def flat(net):
    slopes = []
    for p in net.parameters():
        slopes.append(p.grad.view(-1))
    return torch.cat(slopes)


def outputs(net, x):
    found = []
    for _ in range(3):
        found.append(net(x))
    return torch.cat(found)


def slopes(net, loss, **how):
    return torch.cat([one.view(-1) for one in torch.autograd.grad(loss, list(net.parameters()), GRAPH)])


def update(net, x, loss, fisher):
    loss.backward()
    step = solve(fisher, RIGHT)
    return step
"""


@pytest.mark.parametrize(
    ("right", "graph", "told"),
    [
        ("flat(net)", "None", False),
        ("slopes(net, loss)", "None", False),
        ("slopes(net, loss)", "create_graph=True", True),
        ("outputs(net, x)", "None", True),
    ],
)
def test_a_list_is_what_is_put_into_it_and_gradients_need_none(lint, tree, right, graph, told):
    (tree / "helper.py").unlink()
    (tree / "solver.py").write_text(SOLVER)
    (tree / "policy.py").write_text(POLICY.replace("RIGHT", right).replace("GRAPH", graph))
    assert ("solver.py:8:9: warning[IPL101]" in lint("--output-format=concise", "solver.py").out) is told


STARTED = """\
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def start(self, x):
        self.weight.copy_(x.std())

    def forward(self, x, init=False):
        if init:
            self.weight.copy_(x.mean())
        return x * self.weight


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x, init=False):
        if init and hasattr(self.layer, "start"):
            self.layer.start(x)
        return self.layer(x, init=init)
"""
SEARCH = """\
import torch
from layer import Net


def fit(batches, opt):
    net = Net()
    {context}:
        net(next(batches), init=True)
    for x in batches:
        opt.zero_grad()
        net(x).sum().backward()
        opt.step()
"""


def test_an_option_that_is_passed_without_gradients_only_is_not_one_of_training(lint, tree):
    (tree / "helper.py").unlink()
    (tree / "layer.py").write_text(STARTED)
    assert lint("--output-format=concise", "layer.py").out.count("error[IPL201]") == 2
    (tree / "fit.py").write_text(SEARCH.format(context="with torch.no_grad()"))
    assert lint("layer.py")[:2] == (0, "All checks passed! (2 more with `--assume grad`)\n")
    (tree / "fit.py").write_text(SEARCH.format(context="if opt"))
    assert lint("--output-format=concise", "layer.py").out.count("error[IPL201]") == 2


IN_A_CONTEXT = """\
import torch
from torch import nn


def fit(xs, guard, log):
    net = nn.Linear(4, 4)
    for x in xs:
        {0}
        with guard():
            {1}.backward()
"""
WRITTEN = "h = torch.sigmoid(net(x)); h += 1"


@pytest.mark.parametrize(
    ("lines", "loss", "severity"),
    [
        (WRITTEN, "(h.sum() * 2)", "error"),
        ("with log(): print(net.weight.mean() * 1)\n        " + WRITTEN, "(h.sum() * 2)", "error"),
        ("with log(): " + WRITTEN, "(h.sum() + net(x).sum())", "warning"),
    ],
    ids=["before the context", "after a context", "in a context"],
)
def test_a_context_is_assumed_to_leave_gradients_on_for_what_is_recorded_in_it(lint, folder, lines, loss, severity):
    (folder / "training.py").write_text(IN_A_CONTEXT.format(lines, loss))
    ran = lint("--output-format=json", ".")
    assert [(row["code"], row["severity"]) for row in json.loads(ran.out)] == [("IPL101", severity)]


STUDENT = """\
from loss import Loss


def fit(net, teacher, loader):
    measure = Loss()
    for images, _ in loader:
        wanted = {wanted}
        measure(net(images), wanted.clamp(0, 1)).backward()
"""


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("teacher(images)", True),
        ("teacher(images).detach()", False),
        ("teacher(images).detach().clone()", False),
        ("teacher(images).detach().requires_grad_()", True),
    ],
)
def test_a_variable_that_is_detached_passes_data_also_through_methods(lint, tree, wanted, told):
    (tree / "loss.py").write_text(LOSS)
    (tree / "fit.py").write_text(STUDENT.format(wanted=wanted))
    assert ("loss.py:7:9: warning[IPL101]" in lint("--output-format=concise", "loss.py").out) is told


INVERT = """\
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)

    def invert(self, logits):
        h = nn.Parameter(torch.zeros(3))
        opt = torch.optim.SGD([h], lr=0.1)
        p = logits.exp()
        p *= 2

        def closure():
            {clear}
            loss = (p * self(h)).sum()
            loss.backward()
            return loss

        opt.step(closure)
        return h


def use(head, net, x):
    return head.invert(net(x))
"""


@pytest.mark.parametrize(("clear", "told"), [("opt.zero_grad()", False), ("pass", True)])
def test_what_a_function_with_steps_of_its_own_is_given_is_data(lint, folder, clear, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "head.py").write_text(INVERT.format(clear=clear))
    assert ("head.py:17:9: warning[IPL101]" in lint("--output-format=concise", ".").out) is told


LEARN = """\
import torch
from lib.policy import Policy


class Mine(Policy):
    def set_up(self, model):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def learn(self, x):
        out = self.model(x)
        p = out.softmax(1)
        value = p.mul_(2).sum(1)
        loss = out.sum()
        {step}
        return {{"loss": loss, "value": value}}
"""


@pytest.mark.parametrize(
    ("step", "told"), [("self.opt.zero_grad(); loss.backward(); self.opt.step()", False), ("loss.backward()", True)]
)
def test_what_a_step_of_training_returns_tells_how_it_went(lint, folder, step, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "policy.py").write_text(LEARN.format(step=step))
    assert ("policy.py:13:17: warning[IPL101]" in lint("--output-format=concise", ".").out) is told


BOUND_OF_A_WEIGHT = """\
import torch
from torch import nn


class Bound(nn.Module):
    def forward(self, weight):
        norm = weight.norm(dim=0)
        least = norm.clamp(max=1)
        return weight * (least / norm.add_(1e-5))
"""
BOUNDED_LAYER = """\
from torch import nn
from torch.nn.utils.parametrize import register_parametrization

from bound import Bound


class Bounded({base}):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        register_parametrization(self, "weight", Bound())
"""


@pytest.mark.parametrize(("base", "told"), [("nn.Linear", True), ("object", False)])
def test_a_class_that_derives_from_a_layer_is_a_module_that_uses_another(lint, folder, base, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "bound.py").write_text(BOUND_OF_A_WEIGHT)
    (folder / "layer.py").write_text(BOUNDED_LAYER.format(base=base))
    assert ("warning" in lint("bound.py")[1]) is told


FILTER_WITH_METHODS = """\
import torch
from torch import nn


class Filter(nn.Module):
    def __init__(self, method):
        super().__init__()
        self.choose(method)

    def choose(self, method):
        table = {{"looped": self.looped, "plain": self.plain}}
        self.{name} = table[method]

    def plain(self, signal, taps):
        return signal * taps

    def looped(self, signal, taps):
        first = signal[..., 0] * taps[..., 0]
        return first + signal[..., 1].mul_(taps[..., 1])
"""
FILTER_IN_A_NET = """\
from torch import nn

from filters import Filter


class Net(nn.Module):
    def __init__(self, method):
        super().__init__()
        self.taps = nn.Linear(8, 2)
        self.filter = Filter(method)

    def forward(self, signal, features):
        return self.filter(signal, self.taps(features))
"""


@pytest.mark.parametrize(("name", "told"), [("forward", True), ("chosen", False)])
def test_a_method_that_is_set_as_the_call_of_a_module_is_trained(lint, folder, name, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "filters.py").write_text(FILTER_WITH_METHODS.format(name=name))
    (folder / "net.py").write_text(FILTER_IN_A_NET)
    assert ("IPL101" in lint("filters.py")[1]) is told
