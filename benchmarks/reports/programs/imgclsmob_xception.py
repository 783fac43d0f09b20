# osmr/imgclsmob#13, mapillary/inplace_abn#40: a block starts with an in-place ReLU, the skip reads its input.
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init as init


class DwsConvBlock(nn.Module):
    def __init__(self, in_channels, out_channels, activate):
        super(DwsConvBlock, self).__init__()
        self.activate = activate
        if self.activate:
            self.activ = nn.ReLU(inplace=True)  #~ self.activ = nn.ReLU(inplace=False)
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(out_channels)

    def forward(self, x):
        if self.activate:
            x = self.activ(x)  #!
        return self.bn(self.conv(x))


class XceptionUnit(nn.Module):
    def __init__(self, in_channels, out_channels, reps, start_with_relu=True):
        super(XceptionUnit, self).__init__()
        self.identity = nn.Conv2d(in_channels, out_channels, 1, bias=False)
        self.body = nn.Sequential()
        for i in range(reps):
            self.body.add_module("block{}".format(i + 1), DwsConvBlock(in_channels if i == 0 else out_channels, out_channels, start_with_relu or i > 0))

    def forward(self, x):
        identity = self.identity(x)
        x = self.body(x)
        return x + identity
#: run
XceptionUnit(3, 4, 2)(torch.rand(2, 3, 4, 4, requires_grad=True) * 2).sum().backward()
