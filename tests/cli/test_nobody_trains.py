"""Where a project asks for no gradient: what calls leave out, what constructors compute, where nothing trains."""

from __future__ import annotations

import pytest

QUIET = (0, "All checks passed! (1 more with `--assume grad`)\n", "")
CURVES = """\
import torch
from torch import Tensor


def curve(x: Tensor, density: Tensor, solvent=None):
    if solvent is not None:
        first = density[..., [0]]
        density[..., 1:3] = solvent * first + (1.0 - solvent) * density[..., 1:3]
    return torch.exp(x) * density
"""
FIT = """\
from curves import curve


def fit(x, density, target):
    loss = (curve(x, density{}) - target).pow(2).mean()
    loss.backward()
"""


@pytest.mark.parametrize(("passed", "told"), [("", False), (", target", True), (", **target", True)])
def test_what_all_calls_leave_at_its_default_has_no_gradient(lint, folder, passed, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "curves.py").write_text(CURVES)
    (folder / "fit.py").write_text(FIT.format(passed))
    found = lint("--output-format=concise", "curves.py")
    assert ("curves.py:8:9: warning[IPL101]" in found.out) is told
    assert told or found == QUIET


POINTS = """\
import torch
from torch import nn


class Points(nn.Module):
    def __init__(self, points, n):
        super().__init__()
        table = torch.zeros(n)
        for i in range(n):
            table[i] = torch.pow(points[i, 0], 2)
            table[i] = table[i] * torch.pow(points[i, 1], 2)
        self.table = table
        self.layer = nn.Linear(n, n)

    def forward(self, x):
        return self.layer(x) * self.table
"""
NET = """\
from torch import nn

from points import Points


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return Points(self.layer(x), 3)(x)
"""


def test_what_a_constructor_computes_of_its_arguments_is_in_no_loss(lint, folder):
    (folder / "pyproject.toml").write_text("")
    (folder / "points.py").write_text(POINTS)
    assert lint("points.py") == QUIET
    (folder / "net.py").write_text(NET)
    assert "points.py:11:13: warning[IPL101]" in lint("--output-format=concise", "points.py").out


TRAIT = """\
import torch
from torch import nn


class Trait(nn.Module):
    def __init__(self, founders, effects):
        super().__init__()
        self.founders, self.effects = founders, torch.rand(3)
        self.intercept = self.scaled()

    def scaled(self):
        values = self.founders.dosages() @ self.effects
        self.effects *= 1 / values.std()
        return values.mean()

    def forward(self, x):
        return x @ self.effects - self.intercept
"""


def test_what_a_constructor_keeps_and_overwrites_is_older_than_any_loss(lint, folder):
    (folder / "trait.py").write_text(TRAIT)
    assert lint("trait.py") == QUIET


MOVING = """\
import torch
from torch import nn


class Centred(nn.Module):
    def forward(self, data):
        scale = torch.abs(data)
        data -= scale.mean()
        return data
"""


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("import numpy\n", False),
        ("from torch import nn\nlayer = nn.Conv1d(1, 1, 3)\n", True),
        ("def step(loss):\n    loss.backward()\n", True),
    ],
)
def test_a_module_is_not_trained_where_nothing_in_its_project_trains(lint, folder, other, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "moving.py").write_text(MOVING)
    assert "moving.py:8:9: warning[IPL101]" in lint("--output-format=concise", "moving.py").out
    (folder / "other.py").write_text(other)
    found = lint("--output-format=concise", "moving.py")
    assert ("moving.py:8:9: warning[IPL101]" in found.out) is told
    assert told or found == QUIET


ROTATED = """\
import torch
from rotations import rotate


class Rotated:
    def encode(self, x):
        padded, bound = torch.zeros(8), torch.norm(x)
        for _ in range(2):
            padded[:] = 0
            padded[:4] = x
            padded = rotate(padded)
            clipped = torch.clamp(padded, min=-bound, max=bound)
            x = x - clipped[:4]
        return x
"""


def test_that_a_call_passes_a_gradient_on_is_asked_about_where_a_plain_class_is_run_alone(lint, folder):
    (folder / "pyproject.toml").write_text("")
    (folder / "rotated.py").write_text(ROTATED)
    assert lint("rotated.py") == QUIET
    (folder / "step.py").write_text(
        "from rotated import Rotated\n\n\ndef step(x):\n    Rotated().encode(x).sum().backward()\n"
    )
    assert "rotated.py:9:13: warning[IPL101]" in lint("--output-format=concise", "rotated.py").out


BOOSTED = """\
import torch
from torch import nn


class Boosted(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, x):
        self.out = self.last(self.first(x))
        self.out.retain_grad()
        return self.out

    @torch.no_grad()
    def boost(self):
        self.last.weight -= 0.1 * self.out.grad.mean()
        return {}


def fit(model, batches):
    for x in batches:
        model(x).sum().backward()
        model.boost()
"""


@pytest.mark.parametrize(("returned", "told"), [("None", False), ("self.out", True)])
def test_a_step_of_its_own_that_returns_nothing_comes_after_backward(lint, folder, returned, told):
    (folder / "boosted.py").write_text(BOOSTED.format(returned))
    found = lint("--output-format=concise", "boosted.py")
    assert ("boosted.py:17:9: warning[IPL103]" in found.out) is told
    assert told or found == QUIET


CACHE = """\
import torch
from torch import nn


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(4, 3))

    def forward(self, key, position):
        self.keys[position] = key.exp()
        return self.keys * 2
"""
DECODER = """\
from cache import Cache


class Decoder:
    def __init__(self):
        self.cache = Cache()

    def decode(self, x):
        return self.cache(x, 0)
"""
ATTENTION = """\
from cache import Cache
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(3, 3)
        self.cache = Cache()

    def forward(self, x):
        return self.cache(self.project(x), 0)
"""


@pytest.mark.parametrize(("user", "told"), [(DECODER, False), (ATTENTION, True)])
def test_what_a_module_without_parameters_keeps_is_to_infer_unless_a_call_passes_what_is_trained(
    lint, folder, user, told
):
    (folder / "cache.py").write_text(CACHE)
    assert lint("cache.py") == QUIET
    (folder / "user.py").write_text(user)
    found = lint("--output-format=concise", "cache.py")
    assert ("[IPL104]" in found.out) is told
    assert told or found == QUIET


PRUNED = """\
import torch


def prune(layers, indices):
    with {context}:
        for layer in layers:
            zero(layer, indices)


def zero(layer, indices):
    return zero_weight(layer, indices)


def zero_weight(layer, indices):
    weight = getattr(layer, "weight", None)
    if weight is None:
        raise TypeError("no weight")
    return zero_rows(layer, indices)


def zero_rows(layer, indices):
    fill(layer.weight, indices)
    return 1


def fill(tensor: torch.Tensor, indices):
    tensor.index_fill_(0, torch.as_tensor(indices, device=tensor.device), 0)
"""


@pytest.mark.parametrize(("context", "told"), [("torch.no_grad()", False), ("torch.enable_grad()", True)])
def test_a_weight_may_be_written_by_helpers_that_are_only_called_under_no_grad(lint, folder, context, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "prune.py").write_text(PRUNED.format(context=context))
    found = lint("--output-format=concise", "prune.py")
    assert ("prune.py:27:5: warning[IPL201]" in found.out) is told
    assert told or found == QUIET


SOLVER = """\
import torch


def solve(product, b, steps=5):
    x = torch.zeros_like(b)
    r = b.clone()
    p = r.clone()
    old = torch.dot(r, r)
    for _ in range(steps):
        z = product(p)
        step = old / torch.dot(p, z)
        x += step * p
        r -= step * z
        new = torch.dot(r, r)
        p = r + new / old * p
        old = new
    return x
"""
TRUST = """\
import torch

from solver import solve


class Trust:
    def __init__(self, net, optimizer):
        self.net = net
        self.optimizer = optimizer

    def gradients(self, loss, divergence):
        slopes, curves = [], []
        for param in self.net.parameters():
            slope, *_ = torch.autograd.grad(loss, param, retain_graph=True)
            curve, *_ = torch.autograd.grad(divergence, param, create_graph=True)
            slopes.append(slope.reshape(-1))
            curves.append(curve.reshape(-1))
        return torch.cat(curves), torch.cat(slopes)

    def train(self, loss, divergence):
        self.optimizer.zero_grad()
        curve, slope = self.gradients(loss, divergence)

        def product(p):
            return torch.cat([g.reshape(-1) for g in torch.autograd.grad(curve @ p, self.net.parameters())])

        step = solve(product, {})
        loss.backward()
        return step
"""


@pytest.mark.parametrize(("passed", "told"), [("slope", False), ("curve", True)])
def test_of_several_results_each_says_what_it_is_itself(lint, folder, passed, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "solver.py").write_text(SOLVER)
    (folder / "trust.py").write_text(TRUST.format(passed))
    found = lint("--output-format=concise", "solver.py", "trust.py")
    assert ("solver.py:13:9: warning[IPL101]" in found.out) is told


SCORE = """\
import torch


def score(x):
    far = torch.cdist(x, x)
    far += torch.eye(len(far)) * torch.max(far)
    return far.topk(2, largest=False).values.mean(1)
"""
DETECTOR = """\
from torch import nn

from score import score


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.threshold = 0.5
        self.head = nn.Linear(3, 1)

    def forward(self, x):
        scores = score(x)
        {}
"""


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("return scores > self.threshold", False),
        ("return scores.argmax(), scores > 0", False),
        ("return scores > 0, scores", True),
        ("self.scores = scores\n        return scores > 0", True),
        ("return self.head(scores)", True),
        ("return scores", True),
    ],
)
def test_a_network_that_only_returns_a_decision_trains_nothing(lint, folder, returned, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "score.py").write_text(SCORE)
    (folder / "detector.py").write_text(DETECTOR.format(returned))
    found = lint("--output-format=concise", "score.py")
    assert ("score.py:6:5: warning[IPL101]" in found.out) is told


LAW = """\
import torch


class Laplace:
    def __init__(self, mean, scale):
        self.mean = mean
        self.scale = scale

    def log_prob(self, x):
        z = (x - self.mean) / self.scale
        squared = z.pow(2)
        z += 1
        return -0.5 * squared - torch.log(self.scale)
"""
HEAD = """\
from torch import nn

from law import Laplace


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(3, 3)
        self.scale = nn.Linear(3, 3)

    def forward(self, x):
        law = Laplace(self.mean(x), self.scale(x).exp())
        {}
"""


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("return law", True),
        ("return Laplace(self.mean(x), self.scale(x))", True),
        ("return law, x", True),
        ("return {'law': law}", True),
        ("return law.mean", False),
    ],
)
def test_the_methods_of_an_object_that_a_network_returns_are_for_who_trains_it(lint, folder, end, told):
    (folder / "pyproject.toml").write_text("")
    (folder / "law.py").write_text(LAW)
    (folder / "head.py").write_text(HEAD.replace("{}", end))
    found = lint("--output-format=concise", "law.py")
    assert ("law.py:12:9: warning[IPL101]" in found.out) is told
    assert told or found == QUIET
