from torch import nn

from ..layers import Block, Skip, helpers, shift_
from ..registry import register


@register("small")
class Small(nn.Module):
    def __init__(self, width=8, depth=2, residual=True):
        super().__init__()
        self.blocks = nn.Sequential(*[Skip(Block(width)) if residual else Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        x = self.blocks(x)
        x = helpers.both(x, also=False)
        return self.head(x)


def small(**options):
    return Small(**options)


class Shifted(Small):
    def forward(self, x):
        y = self.blocks(x).tanh()
        if self.training:
            y = shift_(y)
        return self.head(y)
