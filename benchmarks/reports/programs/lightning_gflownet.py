# Lightning-AI/pytorch-lightning#20296: parts of an error are added in place, in a loop of steps.
import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn


class GFlowNet(pl.LightningModule):
    def __init__(self, env, hidden=8):
        super().__init__()
        self.save_hyperparameters(ignore=["env"])
        self.automatic_optimization = False
        self.env = env
        self.forward_net = nn.Sequential(nn.Linear(env.dim, hidden), nn.ReLU(), nn.Linear(hidden, env.n_actions))
        self.backward_net = nn.Linear(env.dim, env.n_actions)

    def forward(self, state):
        return self.forward_net(state).log_softmax(1), self.backward_net(state).log_softmax(1)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        prev = None
        for step in range(3):
            state = self.env.state
            logprob, back = self(state)
            if prev is not None:
                error = self.env.reward(state) - self.env.reward(prev[0])
                error += back.gather(1, prev[1]).squeeze(1)
                error += prev[2][:, -1]
                loss = F.huber_loss(error, torch.zeros_like(error))
                opt.zero_grad()
                self.manual_backward(loss)
                opt.step()  #!
            action = logprob.exp().multinomial(1)
            prev = (state, action, logprob)  #~ prev = (state, action, logprob.detach())
            self.env.step(action)
#: stubs
import torch
class LightningModule(torch.nn.Module):
    def save_hyperparameters(self, **k): pass
    def optimizers(self): return self._o
    def manual_backward(self, l): l.backward()
STUBS["pytorch_lightning"].LightningModule = LightningModule
#: run
class Env:
    dim, n_actions = 3, 4
    state = torch.rand(2, 3)
    def reward(self, s): return s.sum(1)
    def step(self, a): self.state = torch.rand(2, 3)
m = GFlowNet(Env())
m._o = m.configure_optimizers()
m.training_step(None, 0)
