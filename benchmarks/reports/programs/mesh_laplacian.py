# A deformation network: vertices are updated in place between the layers.
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from pytorch3d.structures import Meshes
from tqdm import tqdm


class Deform(nn.Module):
    def __init__(self, hidden=8, rounds=2):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(3, hidden), nn.Softplus(), nn.Linear(hidden, 3)) for _ in range(rounds)])

    def forward(self, verts, idx):
        out = verts.clone()
        for layer in self.layers:
            out[idx] += layer(out[idx])
            out[:, 2] = out[:, 2].abs() * torch.exp(out[:, 2])  #~ out = out * torch.tanh(out[:, 2:])
        return out


def main(args):
    net = Deform()
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    for step in tqdm(range(args.steps)):
        optimizer.zero_grad()
        loss = F.mse_loss(net(args.verts, args.idx), args.target)
        loss.backward()
        optimizer.step()
#: stubs
STUBS["tqdm"].tqdm = lambda x: x
#: run
import types
main(types.SimpleNamespace(lr=0.1, steps=1, verts=torch.rand(4, 3), idx=torch.tensor([0, 2]), target=torch.rand(4, 3)))
