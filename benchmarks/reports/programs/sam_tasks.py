# davda54/sam#10: a loss is accumulated over two forwards of a sharpness-aware step.
import torch
import torch.nn as nn
import torch.nn.functional as F


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        super(SAM, self).__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                e_w = p.grad * group["rho"]
                p.add_(e_w)  #!
                self.state[p]["e_w"] = e_w
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.sub_(self.state[p]["e_w"])
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()


def train_one(model, optimizer, images, targets):
    out = model(images)
    loss = 0
    for t in range(targets.size(1)):
        loss += F.binary_cross_entropy_with_logits(out[:, t], targets[:, t])
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.first_step(zero_grad=True)
    out = model(images)  #~ out, loss = model(images), 0
    for t in range(targets.size(1)):
        loss += F.binary_cross_entropy_with_logits(out[:, t], targets[:, t])
    loss.backward()
    optimizer.second_step(zero_grad=True)


model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
train_one(model, SAM(model.parameters(), torch.optim.SGD, lr=0.1), torch.rand(2, 4), torch.rand(2, 3))
