# dlyldxwl/Stronger-One-stage-detector-with-much-Tricks#1: corners of decoded boxes.
import torch
import torch.nn as nn


def decode(loc, priors, variances):
    boxes = torch.cat((priors[:, :2] + loc[:, :2] * variances[0] * priors[:, 2:], priors[:, 2:] * torch.exp(loc[:, 2:] * variances[1])), 1)
    wh = torch.log(boxes[:, 2:])
    boxes[:, :2] -= boxes[:, 2:] / 2  #!
    boxes[:, 2:] += boxes[:, :2]  #!
    return boxes, wh  #~ return boxes, wh.detach()


class GIOUloss(nn.Module):
    def __init__(self, pred_mode="Center", variances=(0.1, 0.2)):
        super().__init__()
        self.variances = variances

    def forward(self, loc_p, loc_t, prior_data):
        decoded, wh = decode(loc_p, prior_data, self.variances)
        inter = torch.min(decoded[:, 2:], loc_t[:, 2:]) - torch.max(decoded[:, :2], loc_t[:, :2])
        return inter.prod(1).sum() + wh.sum()
#: run
GIOUloss()(torch.rand(3, 4, requires_grad=True), torch.rand(3, 4), torch.rand(3, 4) + 0.1).backward()
