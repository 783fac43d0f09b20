import torch
from torch import nn
from torch.nn import functional as F

from ..registry import LAYERS

INPLACE = True


class Gate(nn.Module):
    """A gate."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, x):
        # the gate
        return x.sigmoid_() if self.inplace else x.sigmoid()


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


LAYERS["gate"] = Gate
LAYERS["swish"] = Swish


def act_layer(name="relu", inplace=INPLACE):
    if name == "relu":
        return nn.ReLU(inplace=inplace)
    return LAYERS[name]()


def squash(x, limit=1.0):
    """Squash."""
    return F.hardtanh(x, -limit, limit)
