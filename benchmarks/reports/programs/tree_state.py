# A tree network as in dasguptar/treelstm.pytorch: children's states go into rows of one tensor.
import torch
import torch.nn as nn


class ChildSum(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.iou = nn.Linear(size, size)
        self.gate = nn.Linear(size, size)

    def node(self, x, children):
        total = children.sum(0)
        return torch.sigmoid(self.iou(x)) * torch.tanh(self.gate(total))

    def forward(self, inputs, parents):
        n = len(parents)
        states = torch.zeros(n, inputs.size(1))  #~ states = [torch.zeros(inputs.size(1))] * n
        for i in reversed(range(n)):
            kids = [states[j] for j in range(n) if parents[j] == i]
            total = torch.stack(kids) if kids else torch.zeros(1, inputs.size(1))
            states[i] = self.node(inputs[i], torch.tanh(states[i]) + total)  #!
        return states[0]
#: run
ChildSum(3)(torch.rand(3, 3), [-1, 0, 0]).sum().backward()
