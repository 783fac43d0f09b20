# BangLiu in andy840314/QANet-pytorch-#5 and others: attention is masked after the softmax.
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
        self.drop = nn.Dropout(cfg.dropout)

    def forward(self, x, mask):
        B, L, D = x.shape
        q, k, v = self.qkv(x).view(B, L, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-2, -1)) / math.sqrt(D // self.heads)
        attn = attn.softmax(dim=-1)
        attn[mask.expand_as(attn)] = 0  #~ attn = attn.masked_fill(mask, 0)
        return (self.drop(attn) @ v).transpose(1, 2).reshape(B, L, D)
#: run
import types
SelfAttention(types.SimpleNamespace(heads=2, dim=4, dropout=0.1))(torch.rand(2, 3, 4), torch.zeros(2, 1, 3, 3, dtype=torch.bool)).sum().backward()
