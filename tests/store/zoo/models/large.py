import torch
import zoo.layers.helpers as tools
from torch import nn
from zoo.layers.act import Gate, act_layer
from zoo.registry import build, register

WIDTHS = {"base": 8, "wide": 16}


@register()
class Large(nn.Module):
    def __init__(self, width=WIDTHS["base"], gate=False, act="swish"):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3)
        self.gate = Gate() if gate else None
        self.act = act_layer(act)
        self.part = build("small", width=width)

    def features(self, x):
        x = self.stem(x)
        x = self.act(x)
        if self.gate is not None:
            x = self.gate(x)
        return x

    def forward(self, x):
        y = self.features(x)
        z = torch.relu(y)
        z = z.mean((2, 3))
        return self.part(z)


class Tuned(Large):
    def features(self, x):
        y = tools.soft(self.stem(x))
        y = y * 2
        return y


def make_large(name="base", pretrained=False, **options):
    model = Large(width=WIDTHS[name], **options)
    if pretrained:
        with torch.no_grad():
            model.stem.weight.mul_(2)
    return model
