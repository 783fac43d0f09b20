# pytorch/examples#779: a hand-written step of the gradient.
import argparse
import math
import time

import torch
import torch.nn as nn

import data
import model as models

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=20)
parser.add_argument("--clip", type=float, default=0.25)
parser.add_argument("--emsize", type=int, default=8)
args = parser.parse_args([])

corpus = data.Corpus("./data")
model = models.RNNModel("LSTM", 12, args.emsize)
criterion = nn.NLLLoss()
lr = args.lr


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def train(train_data):
    model.train()
    total_loss = 0.0
    hidden = model.init_hidden(20)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, 35)):
        inputs, targets = train_data[i : i + 35], train_data[i + 1 : i + 36].view(-1)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(inputs, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        for p in model.parameters():
            p.add_(p.grad, alpha=-lr)  #~ p.data.add_(p.grad, alpha=-lr)
        total_loss += loss.item()
    return total_loss
#: stubs
import torch
from torch import nn
class RNNModel(nn.Module):
    def __init__(self, kind, n, size):
        super().__init__()
        self.e, self.f = nn.Embedding(n, size), nn.Linear(size, n)
    def init_hidden(self, b):
        return torch.zeros(1)
    def forward(self, x, h):
        return torch.log_softmax(self.f(self.e(x)).flatten(0, 1), -1), h
STUBS["model"].RNNModel = RNNModel
#: run
train(torch.randint(0, 12, (36, 2)))
