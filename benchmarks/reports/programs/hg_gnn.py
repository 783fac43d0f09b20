# 0215Arthur/HG-GNN#11: rows of node features are replaced in the loop over layers.
import dgl
import dgl.function as fn
import numpy as np
import torch
import torch.nn as nn
from dgl.nn.pytorch import SAGEConv


class KGRec(nn.Module):
    def __init__(self, G, args, item_num, user_num):
        super(KGRec, self).__init__()
        self.G, self.item_num = G, item_num
        self.item_emb = nn.Embedding(item_num, args.dim)
        self.user_emb = nn.Embedding(user_num, args.dim)
        self.layers = nn.ModuleList([nn.Linear(args.dim, args.dim) for _ in range(args.layer_num)])

    def forward(self, user, seq, mask):
        h = torch.cat([self.item_emb.weight, self.user_emb.weight], 0)
        for layer in self.layers:
            neighbours = torch.sigmoid(layer(h))
            h[: self.item_num] = neighbours[: self.item_num]  #~ h = torch.cat([neighbours[: self.item_num], h[self.item_num :]])
        session = h[seq] * mask.unsqueeze(-1)
        return (session.sum(1) * h[self.item_num + user]).sum(1)
#: run
import types
KGRec(None, types.SimpleNamespace(dim=3, layer_num=2), 4, 2)(torch.tensor([0]), torch.tensor([[1, 2]]), torch.ones(1, 2)).sum().backward()
