# twitter-research/tgn#25-like: rows of a memory are replaced by computed rows, before they are read.
import logging
from collections import defaultdict
from copy import deepcopy

import numpy as np
import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, n_nodes, memory_dimension):
        super(Memory, self).__init__()
        self.n_nodes, self.memory_dimension = n_nodes, memory_dimension
        self.__init_memory__()

    def __init_memory__(self):
        self.memory = nn.Parameter(torch.zeros((self.n_nodes, self.memory_dimension)), requires_grad=False)

    def get_memory(self, node_idxs):
        return self.memory[node_idxs, :]

    def set_memory(self, node_idxs, values):
        self.memory[node_idxs, :] = values  #~ self.memory[node_idxs, :] = values.detach()

    def detach_memory(self):
        self.memory.detach_()


class TGN(nn.Module):
    def __init__(self, n_nodes, dim):
        super().__init__()
        self.memory = Memory(n_nodes, dim)
        self.updater = nn.GRUCell(dim, dim)
        self.affinity = nn.Linear(2 * dim, 1)

    def forward(self, src, dst, messages):
        nodes = torch.cat([src, dst])
        self.memory.set_memory(nodes, self.updater(messages, self.memory.get_memory(nodes)))
        return self.affinity(torch.cat([self.memory.get_memory(src), self.memory.get_memory(dst)], 1))


def run(args, batches):
    tgn = TGN(args.nodes, args.dim)
    criterion = torch.nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(tgn.parameters(), lr=args.lr)
    for epoch in range(args.n_epoch):
        for src, dst, message in batches:
            optimizer.zero_grad()
            pos = tgn(src, dst, message)
            loss = criterion(pos, torch.ones_like(pos))
            loss.backward()
            optimizer.step()
#: run
import types
run(types.SimpleNamespace(nodes=4, dim=3, lr=0.1, n_epoch=2), [(torch.tensor([0]), torch.tensor([1]), torch.rand(2, 3))])
