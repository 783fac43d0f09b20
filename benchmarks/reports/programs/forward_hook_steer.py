# Steering of activations: a forward hook adds a vector to what the layer saved.
import torch
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer


class MLP(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 2 * dim)
        self.act = nn.Sigmoid()
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        return self.down(self.act(self.up(x)))


class Steer:
    def __init__(self, model, vector):
        self.model, self.vector = model, vector
        self.handles = []

    def hook(self, module, args, output):
        output += self.vector  #~ return output + self.vector

    def __enter__(self):
        for layer in self.model.layers:
            self.handles.append(layer.act.register_forward_hook(self.hook))
        return self

    def __exit__(self, *exc):
        for handle in self.handles:
            handle.remove()


class LM(nn.Module):
    def __init__(self, dim=4, depth=2):
        super().__init__()
        self.layers = nn.ModuleList([MLP(dim) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


def train(model, batches, lr=1e-2):
    vector = nn.Parameter(torch.zeros(8))
    opt = torch.optim.Adam([vector], lr=lr)
    for batch in batches:
        with Steer(model, vector):
            loss = model(batch).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return vector


train(LM(), [torch.rand(2, 4)])
