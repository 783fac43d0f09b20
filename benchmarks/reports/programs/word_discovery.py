# jasonppy/word-discovery#4: padding positions of a feature are zeroed after the layer saved it.
import math

import torch
import torch.nn.functional as F
from fairseq import checkpoint_utils, utils
from torch import nn


class TransformerEncoder(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.pos_conv = nn.Sequential(nn.Conv1d(args.dim, args.dim, 3, padding=1), nn.GELU())
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(args.dim, 2, 8, batch_first=True) for _ in range(args.depth)])
        self.layer_norm = nn.LayerNorm(args.dim)

    def forward(self, x, padding_mask=None):
        h = self.layer_norm(x)
        conv = self.pos_conv(h.transpose(1, 2)).transpose(1, 2)
        if padding_mask is not None:
            h[padding_mask] = 0  #~ h = h.masked_fill(padding_mask[..., None], 0)
        x = h + conv
        for layer in self.layers:
            x = layer(x)
        return x
#: run
import types
TransformerEncoder(types.SimpleNamespace(dim=4, depth=1))(torch.rand(2, 3, 4), torch.zeros(2, 3, dtype=torch.bool)).sum().backward()
