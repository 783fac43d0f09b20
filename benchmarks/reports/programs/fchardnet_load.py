# PingoLH/FCHarDNet#61: weights of another layout are written into the convolutions of a network.
import argparse

import numpy as np
import torch
import torch.nn as nn
from ptsemseg.models import get_model


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="hardnet.bin")
    return parser.parse_args()


def transfer(net, blob):
    for name, conv in net.named_modules():
        if not isinstance(conv, nn.Conv2d):
            continue
        W = torch.from_numpy(blob[name])
        conv.weight[:, :, :, :] = W[:, :, :, :]  #~ conv.weight.data[:, :, :, :] = W[:, :, :, :]
    return net
#: run
model = nn.Sequential(nn.Conv2d(1, 2, 3))
transfer(model, {"0": np.zeros((2, 1, 3, 3), dtype="float32")})
