from torch import nn

from ..layers import rings


class Pooled(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, ring, x):
        y = ring.rotate_by(self.fc(x), 1)
        y += 1
        return y * ring.span_of(x)


class Turned(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, ring, x):
        y = ring.rotate_by(self.fc(x), 1)
        y.mul_(2)
        return y
