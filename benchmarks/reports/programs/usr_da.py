# anse3832/USR_DA#4-like: an exponential is normalized in place.
import math

import torch
import torch.nn as nn


class DomainLoss(nn.Module):
    def __init__(self, sigma=1.0):
        super().__init__()
        self.sigma = sigma

    def kernel(self, a, b):
        d = torch.cdist(a, b)
        k = torch.exp(-d / self.sigma)
        k /= k.sum(dim=1, keepdim=True)  #~ k = k / k.sum(dim=1, keepdim=True)
        return k

    def forward(self, source, target):
        return (self.kernel(source, source) - self.kernel(source, target)).abs().mean()


class Trainer(object):
    def __init__(self, config, extractor):
        self.config, self.extractor = config, extractor
        self.mmd = DomainLoss(config.sigma)
        self.opt = torch.optim.Adam(extractor.parameters(), lr=config.lr)

    def train_epoch(self, loader_s, loader_t):
        for (s, _), (t, _) in zip(loader_s, loader_t):
            fs, ft = self.extractor(s), self.extractor(t)
            loss = self.mmd(fs, ft)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
#: run
import types
Trainer(types.SimpleNamespace(sigma=1.0, lr=0.1), nn.Linear(3, 3)).train_epoch([(torch.rand(2, 3), 0)], [(torch.rand(2, 3), 0)])
