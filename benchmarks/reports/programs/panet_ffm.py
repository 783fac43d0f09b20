# open-mmlab/mmocr#884: fused maps are added to the maps that were kept.
import torch
import torch.nn.functional as F
from mmcv.cnn import ConvModule
from mmcv.runner import BaseModule, ModuleList
from mmocr.models.builder import NECKS
from torch import nn


class FPEM(BaseModule):
    def __init__(self, in_channels=128, init_cfg=None):
        super().__init__(init_cfg=init_cfg)
        self.up = nn.Sequential(nn.Conv2d(in_channels, in_channels, 3, padding=1), nn.BatchNorm2d(in_channels), nn.ReLU())
        self.down = nn.Sequential(nn.Conv2d(in_channels, in_channels, 3, padding=1), nn.BatchNorm2d(in_channels), nn.ReLU())

    def forward(self, c2, c3):
        c2 = self.up(F.interpolate(c3, size=c2.shape[-2:]) + c2)
        c3 = self.down(F.interpolate(c2, size=c3.shape[-2:]) + c3)
        return c2, c3


@NECKS.register_module()
class FPEM_FFM(BaseModule):
    def __init__(self, in_channels, conv_out=128, fpem_repeat=2, init_cfg=None):
        super().__init__(init_cfg=init_cfg)
        self.reduce = ModuleList([nn.Sequential(nn.Conv2d(c, conv_out, 1), nn.BatchNorm2d(conv_out), nn.ReLU()) for c in in_channels])
        self.fpems = ModuleList([FPEM(conv_out) for _ in range(fpem_repeat)])

    def forward(self, x):
        c2, c3 = [conv(one) for conv, one in zip(self.reduce, x)]
        for i, fpem in enumerate(self.fpems):
            c2, c3 = fpem(c2, c3)
            if i == 0:
                c2_ffm, c3_ffm = c2, c3
            else:
                c2_ffm += c2  #~ c2_ffm = c2_ffm + c2
                c3_ffm += c3  #~ c3_ffm = c3_ffm + c3
        return torch.cat([c2_ffm, F.interpolate(c3_ffm, size=c2_ffm.shape[-2:])], 1)
#: stubs
from torch import nn
class BaseModule(nn.Module):
    def __init__(self, init_cfg=None): super().__init__()
STUBS["mmcv.runner"].BaseModule, STUBS["mmcv.runner"].ModuleList = BaseModule, nn.ModuleList
STUBS["mmocr.models.builder"].NECKS = type("R", (), {"register_module": lambda s: lambda c: c})()
#: run
FPEM_FFM([2, 2], 4)([torch.rand(1, 2, 8, 8), torch.rand(1, 2, 4, 4)]).sum().backward()
