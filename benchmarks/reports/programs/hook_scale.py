# A gradient hook that writes the gradient that it was given, which the next function saved.
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.head = nn.Linear(4, 1)
        self.grads = {}

    def save_grad(self, name):
        def hook(grad):
            self.grads[name] = grad
            grad *= 0.5  #~ return grad * 0.5
        return hook

    def forward(self, x):
        h = self.encoder(x)
        if h.requires_grad:
            h.register_hook(self.save_grad("h"))
        return self.head(h) + h.sum(1, keepdim=True)


torch.manual_seed(0)
model = Model()
x = torch.ones(2, 4)
out = model(x)
h_grad = torch.autograd.grad(out.sum(), list(model.encoder.parameters()))
print(h_grad[0], model.grads["h"])
