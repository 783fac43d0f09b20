import torch
from torch import nn

__all__ = ["Scale", "shift_"]


class Scale(nn.Module):
    def __init__(self, width, init=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.full((width,), init))

    def forward(self, x):
        return x * self.weight


def shift_(x, by=1.0):
    x += by
    return x


def _hidden(x):
    return x.exp()
