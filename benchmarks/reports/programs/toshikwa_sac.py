# toshikwa/soft-actor-critic.pytorch#1: the policy's loss is computed before the critics' steps.
import os

import numpy as np
import torch
from rltorch.memory import MultiStepMemory, PrioritizedMemory
from torch.optim import Adam
from torch.utils.tensorboard import SummaryWriter

from model import GaussianPolicy, TwinnedQNetwork
from utils import grad_false, hard_update, soft_update, to_batch, update_params


class SacAgent:
    def __init__(self, env, log_dir, lr=0.0003, tau=0.005, grad_clip=None, gamma=0.99):
        self.env = env
        self.policy = GaussianPolicy(env.observation_space.shape[0], env.action_space.shape[0])
        self.critic = TwinnedQNetwork(env.observation_space.shape[0], env.action_space.shape[0])
        self.critic_target = TwinnedQNetwork(env.observation_space.shape[0], env.action_space.shape[0]).eval()
        hard_update(self.critic_target, self.critic)
        grad_false(self.critic_target)
        self.policy_optim = Adam(self.policy.parameters(), lr=lr)
        self.q1_optim = Adam(self.critic.Q1.parameters(), lr=lr)
        self.q2_optim = Adam(self.critic.Q2.parameters(), lr=lr)
        self.writer = SummaryWriter(log_dir=os.path.join(log_dir, "summary"))
        self.alpha, self.grad_clip, self.gamma, self.tau = 0.2, grad_clip, gamma, tau
        self.learning_steps = 0

    def learn(self, batch):
        self.learning_steps += 1
        q1_loss, q2_loss = self.calc_critic_loss(batch)
        policy_loss = self.calc_policy_loss(batch)
        self.step(self.q1_optim, self.critic.Q1, q1_loss)
        self.step(self.q2_optim, self.critic.Q2, q2_loss)
        self.step(self.policy_optim, self.policy, policy_loss)  #~ self.step(self.policy_optim, self.policy, self.calc_policy_loss(batch))
        soft_update(self.critic_target, self.critic, self.tau)
        self.writer.add_scalar("loss/Q1", q1_loss.detach().item(), self.learning_steps)

    def step(self, optim, network, loss):
        optim.zero_grad()
        loss.backward()
        if self.grad_clip is not None:
            torch.nn.utils.clip_grad_norm_(network.parameters(), self.grad_clip)
        optim.step()  #!

    def calc_critic_loss(self, batch):
        states, actions, rewards, next_states = batch
        q1, q2 = self.critic(states, actions)
        with torch.no_grad():
            next_q1, next_q2 = self.critic_target(next_states, self.policy(next_states)[0])
            target = rewards + self.gamma * torch.min(next_q1, next_q2)
        return torch.mean((q1 - target).pow(2)), torch.mean((q2 - target).pow(2))

    def calc_policy_loss(self, batch):
        states = batch[0]
        action, entropy = self.policy(states)
        q1, q2 = self.critic(states, action)
        return torch.mean(-torch.min(q1, q2) - self.alpha * entropy)
#: stubs
import sys, types
import torch
class Writer:
    def __init__(self, log_dir): pass
    def add_scalar(self, *a): pass
sys.modules["torch.utils.tensorboard"] = types.SimpleNamespace(SummaryWriter=Writer)
from torch import nn
class GaussianPolicy(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        self.net = nn.Linear(s, a)
    def forward(self, x):
        y = torch.tanh(self.net(x))
        return y, y.sum()
class TwinnedQNetwork(nn.Module):
    def __init__(self, s, a):
        super().__init__()
        mk = lambda: nn.Sequential(nn.Linear(s + a, 4), nn.ReLU(), nn.Linear(4, 1))
        self.Q1, self.Q2 = mk(), mk()
    def forward(self, s, a):
        x = torch.cat([s, a], 1)
        return self.Q1(x), self.Q2(x)
STUBS["model"].GaussianPolicy, STUBS["model"].TwinnedQNetwork = GaussianPolicy, TwinnedQNetwork
#: run
import types
sp = types.SimpleNamespace(shape=(2,))
SacAgent(types.SimpleNamespace(observation_space=sp, action_space=sp), "x").learn((torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 1), torch.rand(3, 2)))
