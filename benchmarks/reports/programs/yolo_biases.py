# DataXujing/YOLO-v5#23: the biases of the heads are shifted through a view.
import math

import torch
import torch.nn as nn
from models.common import Conv, SPP, Focus
from utils.general import check_anchor_order


class Detect(nn.Module):
    stride = None

    def __init__(self, nc=80, anchors=(), ch=()):
        super(Detect, self).__init__()
        self.nc, self.no = nc, nc + 5
        self.nl, self.na = len(anchors), len(anchors[0]) // 2
        self.m = nn.ModuleList(nn.Conv2d(x, self.no * self.na, 1) for x in ch)

    def forward(self, x):
        return [head(one) for head, one in zip(self.m, x)]


class Model(nn.Module):
    def __init__(self, cfg, ch=3):
        super(Model, self).__init__()
        self.model, self.save = parse_model(cfg, ch)
        m = self.model[-1]
        if isinstance(m, Detect):
            m.stride = torch.tensor([8.0, 16.0])
            check_anchor_order(m)
            self.stride = m.stride
            self._initialize_biases()

    def _initialize_biases(self, cf=None):
        m = self.model[-1]
        for mi, s in zip(m.m, m.stride):
            b = mi.bias.view(m.na, -1)  #~ b = mi.bias.detach().view(m.na, -1)
            b[:, 4] += math.log(8 / (640 / s) ** 2)  #!
            b[:, 5:] += math.log(0.6 / (m.nc - 0.99)) if cf is None else torch.log(cf / cf.sum())  #!
            mi.bias = torch.nn.Parameter(b.view(-1), requires_grad=True)


def parse_model(cfg, ch):
    layers = [nn.Conv2d(ch, 8, 1), Detect(cfg["nc"], cfg["anchors"], (8, 8))]
    return nn.Sequential(*layers), []
#: run
Model({"nc": 3, "anchors": [[1, 2], [3, 4]]})
