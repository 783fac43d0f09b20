# motokimura/PyTorch_Gaussian_YOLOv3#11: slices of the prediction are activated in place.
import numpy as np
import torch
import torch.nn as nn
from utils.utils import bboxes_iou


class YOLOLayer(nn.Module):
    def __init__(self, config_model, layer_no, in_ch, ignore_thre=0.7):
        super(YOLOLayer, self).__init__()
        self.anchors = [(10, 13), (16, 30)]
        self.n_anchors, self.n_classes = len(self.anchors), config_model["N_CLASSES"]
        self.l2_loss, self.bce_loss = nn.MSELoss(reduction="sum"), nn.BCELoss(reduction="sum")
        self.conv = nn.Conv2d(in_ch, self.n_anchors * (self.n_classes + 5), 1)

    def forward(self, xin, labels=None):
        output = self.conv(xin)
        batchsize, fsize = output.shape[0], output.shape[2]
        n_ch = 5 + self.n_classes
        output = output.view(batchsize, self.n_anchors, n_ch, fsize, fsize)
        output = output.permute(0, 1, 3, 4, 2)
        output[..., np.r_[:2, 4:n_ch]] = torch.sigmoid(output[..., np.r_[:2, 4:n_ch]])
        pred = torch.sigmoid(output) if labels is None else torch.exp(output)
        pred[..., :2] += 1.0  #~ pred = torch.cat([pred[..., :2] + 1.0, pred[..., 2:]], -1)
        if labels is None:
            return pred.view(batchsize, -1, n_ch).data
        return self.l2_loss(pred, labels)
#: run
YOLOLayer({"N_CLASSES": 2}, 0, 3)(torch.rand(1, 3, 2, 2), torch.rand(1, 2, 2, 2, 7)).backward()
