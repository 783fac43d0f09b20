"""Helpers of transformers, which other code imports."""

import copy

from torch import nn
from torch.nn import functional


def _get_clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


def _get_activation_fn(activation):
    if activation == "relu":
        return functional.relu
    if activation == "gelu":
        return functional.gelu
    raise RuntimeError(activation)
