# j-sripad/mulitresunet-pytorch#3: several += on what activations saved.
import torch
import torch.nn as nn
import torch.nn.functional as F


class conv2d_bn(nn.Module):
    def __init__(self, i, o, k=3, activation="relu"):
        super().__init__()
        self.conv, self.bn, self.activation = nn.Conv2d(i, o, k, padding=k // 2), nn.BatchNorm2d(o), activation

    def forward(self, x):
        x = self.bn(self.conv(x))
        return F.relu(x) if self.activation == "relu" else x


class MultiResBlock(nn.Module):
    def __init__(self, inputs, filters):
        super().__init__()
        self.cnv1, self.cnv2 = conv2d_bn(inputs, filters), conv2d_bn(filters, filters)
        self.shortcut = conv2d_bn(inputs, 2 * filters, 1, "None")
        self.bn1 = nn.BatchNorm2d(2 * filters)

    def forward(self, x):
        shortcut = self.shortcut(x)
        a = self.cnv1(x)
        b = self.cnv2(a)
        out = F.relu(self.bn1(torch.cat([a, b], 1)))
        out += shortcut  #~ out = out + shortcut
        return F.relu(out)
#: run
MultiResBlock(2, 3)(torch.rand(2, 2, 4, 4)).sum().backward()
