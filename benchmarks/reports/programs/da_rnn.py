# Seanny123/da-rnn#14: the states of an encoder are collected by item assignment and read meanwhile.
import typing
from typing import Tuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch import optim
from torch.nn import functional as tf


class Encoder(nn.Module):
    def __init__(self, input_size: int, hidden_size: int, T: int):
        super(Encoder, self).__init__()
        self.input_size, self.hidden_size, self.T = input_size, hidden_size, T
        self.lstm_layer = nn.LSTMCell(input_size, hidden_size)
        self.attn_linear = nn.Linear(2 * hidden_size + 1, 1)

    def forward(self, input_data):
        encoded = torch.zeros(input_data.size(0), self.T, self.hidden_size)
        hidden = torch.zeros(input_data.size(0), self.hidden_size)
        cell = torch.zeros(input_data.size(0), self.hidden_size)
        for t in range(self.T):
            score = self.attn_linear(torch.cat((hidden, cell, input_data[:, t, :1]), dim=1))
            weighted = torch.mul(tf.softmax(score, dim=1), input_data[:, t, :])
            hidden, cell = self.lstm_layer(weighted, (hidden, cell))
            encoded[:, t, :] = hidden
            hidden += 1e-3 * encoded[:, : t + 1].mean(1)  #~ hidden = hidden + 1e-3 * hidden
        return encoded


def train(model, X, y, batch_size=2, n_epochs=2, lr=1e-3):
    opt = optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    loss_func = nn.MSELoss()
    for e_i in range(n_epochs):
        perm_idx = np.random.permutation(len(X))
        for t_i in range(0, len(X), batch_size):
            batch_idx = perm_idx[t_i : (t_i + batch_size)]
            opt.zero_grad()
            loss = loss_func(model(X[batch_idx]).mean(2), y[batch_idx])
            loss.backward()
            opt.step()
#: run
train(Encoder(3, 4, 3), torch.rand(4, 3, 3), torch.rand(4, 3))
