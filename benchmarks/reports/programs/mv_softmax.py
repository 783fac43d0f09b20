# xiaoboCASIA/SV-X-Softmax#9: hard examples are reweighted by a boolean index.
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter


class FC(nn.Module):
    def __init__(self, fc_type="MV-AM", margin=0.35, t=0.2, scale=32, embedding_size=8, num_class=10):
        super(FC, self).__init__()
        self.weight = Parameter(torch.Tensor(embedding_size, num_class))
        self.weight.data.uniform_(-1, 1).renorm_(2, 1, 1e-5).mul_(1e5)
        self.margin, self.t, self.scale, self.fc_type = margin, t, scale, fc_type

    def forward(self, x, label):
        kernel_norm = F.normalize(self.weight, dim=0)
        cos_theta = torch.mm(x, kernel_norm).clamp(-1, 1)
        batch_size = label.size(0)
        gt = cos_theta[torch.arange(0, batch_size), label].view(-1, 1)
        if self.fc_type == "FC":
            final_gt = gt
        else:
            mask = cos_theta > gt - self.margin
            final_gt = torch.sqrt(1.0 - torch.pow(cos_theta, 2))[torch.arange(0, batch_size), label].view(-1, 1)
            hard_example = cos_theta[mask]
            cos_theta[mask] = (self.t + 1.0) * hard_example + self.t  #~ cos_theta = torch.where(mask, (self.t + 1.0) * cos_theta + self.t, cos_theta)
        cos_theta = cos_theta.scatter(1, label.data.view(-1, 1), final_gt)
        return cos_theta * self.scale
#: run
FC()(F.normalize(torch.rand(3, 8, requires_grad=True)), torch.tensor([1, 2, 3])).sum().backward()
