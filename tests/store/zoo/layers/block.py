from torch import nn

from .act import act_layer, squash
from .norm import Scale


class Residual(nn.Module):
    def __init__(self, inner, scale=False):
        super().__init__()
        self.inner = inner
        self.scale = Scale(8) if scale else nn.Identity()

    def forward(self, x):
        y = self.inner(x)
        y = self.scale(y)
        return self.join(x, y)

    def join(self, x, y):
        return x + y


class Block(nn.Module):
    def __init__(self, width=8, act="relu", norm=nn.LayerNorm):
        super().__init__()
        self.norm = norm(width)
        self.fc = nn.Linear(width, width)
        self.act = act_layer(act)

    def forward(self, x):
        x = self.act(self.fc(self.norm(x)))
        return squash(x)
