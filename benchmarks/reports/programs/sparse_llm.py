# BaiTheBest/SparseLLM#13: gradient descent on a slice of activations.
import time

import torch
import torch.nn as nn
from .sparsegpt import SparseGPT
from .quant import Quantizer


@torch.enable_grad()
def optimize(s, z, gamma, rate=0.1, epochs=3, chunk=2):
    for epoch in range(epochs):
        for k in range(0, s.size(-1), chunk):
            columns = slice(k, k + chunk)
            s_batch = s[:, columns].detach().clone().requires_grad_(True)
            loss_s = gamma * torch.norm(torch.relu(s_batch) - z[:, columns]) ** 2
            loss_s.backward()
            s_batch -= rate * s_batch.grad  #~ s_batch = s_batch - rate * s_batch.grad
            s[:, columns] = s_batch.detach()
    return s


def prune(layer, inps, gamma):
    subset = {name: one for name, one in layer.named_modules() if isinstance(one, nn.Linear)}
    gpts = {name: SparseGPT(one) for name, one in subset.items()}
    for name, one in gpts.items():
        one.fasterprune(0.5)
    return optimize(inps.clone(), torch.zeros_like(inps), gamma)
#: run
optimize(torch.rand(3, 4), torch.zeros(3, 4), 1.0)
