# OpenNMT/OpenNMT-py#2303: parts of a split are written.
import torch
import torch.nn as nn
from onmt.modules.util_class import Elementwise
from onmt.utils.misc import aeq


class GatedGraph(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, 3 * dim)
        self.dropout = nn.Dropout(0.1)

    def forward(self, state, adj):
        r, z, h = torch.split(self.proj(state), state.size(-1), dim=-1)
        message = adj @ state
        h += message  #~ h = h + message
        r, z = torch.sigmoid(r), torch.sigmoid(z)
        return self.dropout((1 - z) * state + z * torch.tanh(r * h))
#: run
GatedGraph(3)(torch.rand(2, 4, 3), torch.rand(2, 4, 4)).sum().backward()
