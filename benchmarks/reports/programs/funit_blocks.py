# NVlabs/FUNIT#23: a residual block whose activation is in place and whose input is read again.
import torch
import torch.nn.functional as F
from torch import nn


class ActFirstResBlock(nn.Module):
    def __init__(self, fin, fout, fhid=None, activation="lrelu", norm="none"):
        super().__init__()
        self.learned_shortcut = fin != fout
        self.fhidden = min(fin, fout) if fhid is None else fhid
        self.conv_0 = Conv2dBlock(fin, self.fhidden, activation=activation)
        self.conv_1 = Conv2dBlock(self.fhidden, fout, activation=activation)
        if self.learned_shortcut:
            self.conv_s = Conv2dBlock(fin, fout, activation="none")

    def forward(self, x):
        x_s = self.conv_s(x) if self.learned_shortcut else x
        dx = self.conv_1(self.conv_0(x))
        return x_s + dx


class Conv2dBlock(nn.Module):
    def __init__(self, in_dim, out_dim, activation="relu"):
        super(Conv2dBlock, self).__init__()
        self.pad = nn.ReflectionPad2d(1)
        if activation == "relu":
            self.activation = nn.ReLU(inplace=False)
        elif activation == "lrelu":
            self.activation = nn.LeakyReLU(0.2, inplace=True)  #~ self.activation = nn.LeakyReLU(0.2, inplace=False)
        elif activation == "tanh":
            self.activation = nn.Tanh()
        elif activation == "none":
            self.activation = None
        else:
            assert 0, "Unsupported activation: {}".format(activation)
        self.conv = nn.Conv2d(in_dim, out_dim, 3)

    def forward(self, x):
        if self.activation:
            x = self.conv(self.pad(self.activation(x)))  #!
        else:
            x = self.conv(self.pad(x))
        return x


class Encoder(nn.Module):
    def __init__(self, nf=4):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, nf, 1), nn.Sigmoid())
        self.block = ActFirstResBlock(nf, 2 * nf)

    def forward(self, x):
        return self.block(self.first(x))
#: run
Encoder()(torch.rand(1, 3, 4, 4)).sum().backward()
