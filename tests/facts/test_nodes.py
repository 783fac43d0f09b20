"""The names of nodes in errors of PyTorch lead to the calls that make them: methods that write, and a few layers."""

from __future__ import annotations

import re

import pytest

from inplace_lint.knowledge import facts

torch = pytest.importorskip("torch")

ARGUMENTS = ((), (0.5,), ("tensor",), ("tensor", "tensor"), (0.25, 0.75), (0,), (0, 1))
# These set what the tensor is, not what it holds.
OTHER = {
    "apply_",
    "detach_",
    "requires_grad_",
    "resize_",
    "resize_as_",
    "set_",
    "share_memory_",
    "rename_",
    "retain_grad",
}
LAYERS = {
    "norm": lambda x: x.norm(dim=1),
    "conv1d": lambda x: torch.nn.functional.conv1d(x[None], x[None]),
    "conv2d": lambda x: torch.nn.functional.conv2d(x[None, None], x[None, None]),
    "batch_norm1d": torch.nn.BatchNorm1d(3),
    "dropout": torch.nn.functional.dropout,
    "interpolate": lambda x: torch.nn.functional.interpolate(x[None], scale_factor=2),
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, (3,)),
    "linear": lambda x: torch.nn.functional.linear(x, x, x[0]),
    "matmul": lambda x: x @ x,
    "max_pool2d": lambda x: torch.nn.functional.max_pool2d(x[None, None], 2),
    "pad": lambda x: torch.nn.functional.pad(x, (1, 1)),
    "prelu": lambda x: torch.nn.functional.prelu(x, x[0, :1]),
    "relu6": torch.nn.functional.relu6,
    "selu": torch.nn.functional.selu,
    "cross_entropy": lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([0, 1, 2]), reduction="none"),
}


def tensor():
    return torch.full((3, 3), 0.5, requires_grad=True) * 1


def written(name: str):
    """Return the node of a tensor after a method has written to it; None where no arguments of ours fit."""
    for arguments in ARGUMENTS:
        x = tensor()
        before = x.grad_fn
        try:
            getattr(x, name)(*(tensor() if one == "tensor" else one for one in arguments))
        except (RuntimeError, TypeError, NotImplementedError, ValueError, IndexError):
            continue
        return None if x.grad_fn is before or "NotImplemented" in x.grad_fn.name() else x.grad_fn
    return None


NAMES = sorted(name for name in dir(torch.Tensor) if re.fullmatch(r"[a-z]\w*_", name) and name not in OTHER)
METHODS = {name: node for name in NAMES if (node := written(name)) is not None}


def leads(node, call: str) -> bool:
    name = re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])
    calls = (name, *facts.framework("torch").nodes.get(name, ()))
    return call.replace("_", "") in {one.replace("_", "").casefold() for one in calls}


@pytest.mark.parametrize("method", METHODS)
def test_a_node_leads_to_the_method_that_writes(method):
    assert leads(METHODS[method], method), METHODS[method].name()


@pytest.mark.parametrize("call", LAYERS)
def test_a_node_leads_to_the_function_that_made_the_tensor(call):
    node = LAYERS[call](tensor()).grad_fn
    assert leads(node, call), node.name()
