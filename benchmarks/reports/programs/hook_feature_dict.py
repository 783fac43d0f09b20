# frgfm/torch-cam#80: features kept by a hook are rectified by the next layer before they are used.
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.GroupNorm(2, 4)
        self.relu = nn.LeakyReLU(0.1)
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x):
        x = self.norm(self.conv1(x))
        return self.conv2(self.relu(x))


class Extractor:
    def __init__(self, model, names):
        self.features = {}
        for name, module in model.named_modules():
            if name in names:
                module.register_forward_hook(partial(self.keep, name))

    def keep(self, name, module, inputs, output):
        self.features[name] = torch.tanh(output)


class PerceptualLoss(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.extractor = Extractor(net, ("norm", "conv2"))

    def forward(self, x, y):
        self.net(y)
        target = {k: v.detach() for k, v in self.extractor.features.items()}
        self.net(x)
        loss = 0
        for name, feat in self.extractor.features.items():
            feat -= target[name]  #~ feat = feat - target[name]
            loss = loss + feat.pow(2).mean()
        return loss
#: run
x = torch.rand(1, 3, 4, 4, requires_grad=True)
PerceptualLoss(Backbone())(x, torch.rand(1, 3, 4, 4)).backward()
