# pytorch/pytorch#114505: a column is replaced by a function of the tensor.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x):
        b = self.net(x)
        b[:, 1] = F.softplus(b[:, 1])  #~ b = torch.stack([b[:, 0], F.softplus(b[:, 1])], 1)
        return b
#: run
Head(3)(torch.rand(2, 3)).sum().backward()
