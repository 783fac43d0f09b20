# As in maximilianigl/DVRL#5: a shared body; the critic steps before the actor's backward.
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class ActorCritic(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
        self.pi, self.v = nn.Linear(16, n_out), nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return F.softmax(self.pi(h), dim=-1), self.v(h)


class A2C:
    def __init__(self, cfg):
        self.net = ActorCritic(cfg["obs"], cfg["act"])
        self.actor_optim = optim.Adam(list(self.net.body.parameters()) + list(self.net.pi.parameters()), cfg["lr"])
        self.critic_optim = optim.Adam(list(self.net.body.parameters()) + list(self.net.v.parameters()), cfg["lr"])
        self.gamma = cfg["gamma"]

    def update(self, s, a, r, s2):
        probs, value = self.net(s)
        with torch.no_grad():
            target = r + self.gamma * self.net(s2)[1]
        advantage = target - value
        critic_loss = advantage.pow(2).mean()
        actor_loss = (-torch.log(probs.gather(1, a)) * advantage.detach()).mean()
        self.critic_optim.zero_grad()
        critic_loss.backward(retain_graph=True)
        self.critic_optim.step()  #~ actor_loss = (-torch.log(self.net(s)[0].gather(1, a)) * advantage.detach()).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()
#: run
A2C({"obs": 3, "act": 2, "lr": 0.1, "gamma": 0.9}).update(torch.rand(2, 3), torch.zeros(2, 1, dtype=torch.long), torch.rand(2, 1), torch.rand(2, 3))
