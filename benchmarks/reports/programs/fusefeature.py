# zylo117/Yet-Another-EfficientDet-Pytorch#503: an in-place activation of a parameter.
import torch
import torch.nn as nn
from efficientnet.utils import MemoryEfficientSwish, Swish


class FuseFeature(nn.Module):
    def __init__(self, e=1e-4, onnx_export=False):
        super(FuseFeature, self).__init__()
        self.e = e
        self.weight = nn.Parameter(torch.ones(2, dtype=torch.float32), requires_grad=True)
        self.weight_relu = nn.ReLU(inplace=True)  #~ self.weight_relu = nn.ReLU()
        self.swish = MemoryEfficientSwish() if not onnx_export else Swish()

    def forward(self, x):
        weight = self.weight_relu(self.weight)  #!
        weight = weight / (torch.sum(weight, dim=0) + self.e)
        return self.swish(weight[0] * x[0] + weight[1] * x[1])
#: run
FuseFeature()([torch.rand(2), torch.rand(2)])
