# Jee-King/TSAN#3: out is another name for x.
import torch
import torch.nn as nn
from model import common


def make_model(args, parent=False):
    return TSAN(args)


class TSAN(nn.Module):
    def __init__(self, args, conv=nn.Conv2d):
        super(TSAN, self).__init__()
        n_feats = args.n_feats
        self.head = conv(3, n_feats, 3, padding=1)
        self.body = nn.Sequential(*[conv(n_feats, n_feats, 3, padding=1) for _ in range(2)])
        self.act = nn.PReLU()
        self.tail = conv(n_feats, 3, 3, padding=1)

    def forward(self, x):
        x = self.act(self.head(x))
        out = x  #~ out = x.clone()
        for block in self.body:
            out += torch.sigmoid(block(out))  #~ out = out + torch.sigmoid(block(out))
            out = torch.relu_(out)  #~ out = torch.relu(out)
        return self.tail(out + x)
#: run
import types
TSAN(types.SimpleNamespace(n_feats=4))(torch.rand(1, 3, 4, 4)).sum().backward()
