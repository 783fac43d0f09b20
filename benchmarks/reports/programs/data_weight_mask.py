# INCHEON-CHO/Dynamic_Model_Pruning_with_Feedback#1-like: weights are masked by .data after the forward.
import torch
import torch.nn as nn
import torch.nn.functional as F


class MaskedLinear(nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o)
        self.register_buffer("mask", torch.ones(o, i))

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Pruner:
    def __init__(self, model, rate):
        self.model, self.rate = model, rate

    def prune(self):
        for m in self.model.modules():
            if isinstance(m, MaskedLinear):
                k = int(m.weight.numel() * self.rate)
                limit = m.weight.abs().flatten().kthvalue(k)[0]
                m.mask = (m.weight.abs() > limit).float()
                m.weight.data.mul_(m.mask)  #!


torch.manual_seed(0)
model = nn.Sequential(MaskedLinear(4, 6), nn.Tanh(), MaskedLinear(6, 2))
pruner = Pruner(model, 0.5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.rand(8, 4), torch.rand(8, 2)
for step in range(3):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    pruner.prune()  #~ pass
    loss.backward()
    optimizer.step()  #~ (optimizer.step(), pruner.prune())
    print(loss.item(), model[0].weight.grad.abs().sum().item())
