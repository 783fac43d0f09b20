# NVlabs/FUNIT#23 (comment): outputs of a cell are written into a table step by step.
import random
from collections import deque, namedtuple

import gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

Transition = namedtuple("Transition", ("state", "action", "reward"))


class DQN(nn.Module):
    def __init__(self, n_obs, n_actions, hidden=8):
        super(DQN, self).__init__()
        self.hidden = hidden
        self.cell = nn.LSTMCell(n_obs, hidden)
        self.out = nn.Linear(hidden, n_actions)

    def forward(self, x):
        batch, steps, _ = x.shape
        h = torch.zeros(batch, self.hidden)
        c = torch.zeros(batch, self.hidden)
        q = torch.zeros(batch, steps, self.out.out_features)
        for t in range(steps):
            h, c = self.cell(x[:, t], (h, c))
            q[:, t] = self.out(h)
        q = torch.softmax(q, dim=-1)
        q[:, -1] *= 0.5  #~ q = torch.cat([q[:, :-1], q[:, -1:] * 0.5], 1)
        return q


class Agent:
    def __init__(self, env):
        self.env, self.memory = env, deque(maxlen=100)
        self.policy = DQN(env.observation_space.shape[0], env.action_space.n)
        self.target = DQN(env.observation_space.shape[0], env.action_space.n)
        self.optimizer = optim.Adam(self.policy.parameters(), lr=1e-3)

    def optimize(self, batch):
        q = self.policy(batch.state).gather(2, batch.action)
        loss = nn.functional.smooth_l1_loss(q, batch.reward)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
#: run
import types
env = types.SimpleNamespace(observation_space=types.SimpleNamespace(shape=(3,)), action_space=types.SimpleNamespace(n=2))
Agent(env).optimize(Transition(torch.rand(2, 4, 3), torch.zeros(2, 4, 1, dtype=torch.long), torch.rand(2, 4, 1)))
