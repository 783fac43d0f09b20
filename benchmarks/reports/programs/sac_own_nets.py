# sweetice/Deep-reinforcement-learning-with-pytorch#50: three losses, three optimizers, in one update.
import argparse
import os
from collections import namedtuple
from itertools import count

import gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from tensorboardX import SummaryWriter
from torch.distributions import Normal

device = "cuda" if torch.cuda.is_available() else "cpu"
parser = argparse.ArgumentParser()
parser.add_argument("--env_name", default="Pendulum-v0")
parser.add_argument("--learning_rate", default=3e-4, type=float)
parser.add_argument("--gamma", default=0.99, type=float)
parser.add_argument("--capacity", default=10000, type=int)
parser.add_argument("--gradient_steps", default=1, type=int)
parser.add_argument("--batch_size", default=4, type=int)
args, _ = parser.parse_known_args()

env = gym.make(args.env_name)
state_dim = env.observation_space.shape[0]
action_dim = env.action_space.shape[0]


class Actor(nn.Module):
    def __init__(self, state_dim):
        super(Actor, self).__init__()
        self.fc1 = nn.Linear(state_dim, 16)
        self.mu_head = nn.Linear(16, 1)
        self.log_std_head = nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.mu_head(x), F.relu(self.log_std_head(x)).clamp(-20, 2)


class Critic(nn.Module):
    def __init__(self, state_dim):
        super(Critic, self).__init__()
        self.fc1 = nn.Linear(state_dim, 16)
        self.fc2 = nn.Linear(16, 1)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class Q(nn.Module):
    def __init__(self, state_dim, action_dim):
        super(Q, self).__init__()
        self.fc1 = nn.Linear(state_dim + action_dim, 16)
        self.fc2 = nn.Linear(16, 1)

    def forward(self, s, a):
        return self.fc2(F.relu(self.fc1(torch.cat((s.reshape(-1, state_dim), a.reshape(-1, action_dim)), -1))))


class SAC:
    def __init__(self):
        super(SAC, self).__init__()
        self.policy_net = Actor(state_dim).to(device)
        self.value_net = Critic(state_dim).to(device)
        self.Target_value_net = Critic(state_dim).to(device)
        self.Q_net = Q(state_dim, action_dim).to(device)
        self.policy_optimizer = optim.Adam(self.policy_net.parameters(), lr=args.learning_rate)
        self.value_optimizer = optim.Adam(self.value_net.parameters(), lr=args.learning_rate)
        self.Q_optimizer = optim.Adam(self.Q_net.parameters(), lr=args.learning_rate)
        self.value_criterion, self.Q_criterion = nn.MSELoss(), nn.MSELoss()
        for t, p in zip(self.Target_value_net.parameters(), self.value_net.parameters()):
            t.data.copy_(p.data)

    def get_action_log_prob(self, state):
        mu, log_sigma = self.policy_net(state)
        dist = Normal(mu, torch.exp(log_sigma))
        z = dist.rsample()
        return torch.tanh(z), dist.log_prob(z), z, mu, log_sigma

    def update(self, bn_s, bn_a, bn_r, bn_s_, bn_d):
        for _ in range(args.gradient_steps):
            target_value = self.Target_value_net(bn_s_)
            next_q_value = bn_r + (1 - bn_d) * args.gamma * target_value
            excepted_value = self.value_net(bn_s)
            excepted_Q = self.Q_net(bn_s, bn_a)
            sample_action, log_prob, z, mu, log_sigma = self.get_action_log_prob(bn_s)
            excepted_new_Q = self.Q_net(bn_s, sample_action)
            next_value = excepted_new_Q - log_prob
            V_loss = self.value_criterion(excepted_value, next_value.detach()).mean()
            Q_loss = self.Q_criterion(excepted_Q, next_q_value.detach()).mean()
            pi_loss = (log_prob - excepted_new_Q).mean()
            self.value_optimizer.zero_grad()
            V_loss.backward(retain_graph=True)
            nn.utils.clip_grad_norm_(self.value_net.parameters(), 0.5)
            self.value_optimizer.step()
            self.Q_optimizer.zero_grad()
            Q_loss.backward(retain_graph=True)
            self.Q_optimizer.step()  #~ pi_loss = (log_prob - self.Q_net(bn_s, sample_action)).mean()
            self.policy_optimizer.zero_grad()
            pi_loss.backward(retain_graph=True)
            self.policy_optimizer.step()


def main():
    agent = SAC()
    writer = SummaryWriter("./exp-SAC")
    for i in range(2):
        state = torch.rand(args.batch_size, state_dim)
        agent.update(state, torch.rand(4, action_dim), torch.rand(4, 1), torch.rand(4, state_dim), torch.zeros(4, 1))


if __name__ == "__main__":
    main()
#: stubs
import types
space = types.SimpleNamespace(shape=(1,))
STUBS["gym"].make = lambda name: types.SimpleNamespace(observation_space=space, action_space=space)
