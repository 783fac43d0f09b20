# MG2033/MobileNet-V2#4-like: an h-swish multiplies in place.
import math

import torch
import torch.nn as nn


def _make_divisible(v, divisor, min_value=None):
    return max(min_value or divisor, int(v + divisor / 2) // divisor * divisor)


class h_sigmoid(nn.Module):
    def __init__(self, inplace=True):
        super(h_sigmoid, self).__init__()
        self.relu = nn.ReLU6(inplace=inplace)

    def forward(self, x):
        return self.relu(x + 3) / 6


class SELayer(nn.Module):
    def __init__(self, channel, reduction=4):
        super(SELayer, self).__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(nn.Linear(channel, _make_divisible(channel // reduction, 8)), nn.ReLU(inplace=True), nn.Linear(_make_divisible(channel // reduction, 8), channel), h_sigmoid())

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.fc(self.avg_pool(x).view(b, c)).view(b, c, 1, 1)
        x *= y  #~ x = x * y
        return x


class InvertedResidual(nn.Module):
    def __init__(self, inp, hidden, oup, use_se=True):
        super(InvertedResidual, self).__init__()
        self.conv = nn.Sequential(nn.Conv2d(inp, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.Sigmoid(), SELayer(hidden) if use_se else nn.Identity(), nn.Conv2d(hidden, oup, 1))

    def forward(self, x):
        return x + self.conv(x)
#: run
InvertedResidual(3, 8, 3)(torch.rand(2, 3, 4, 4)).sum().backward()
