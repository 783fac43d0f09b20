# OmidPoursaeed/Generative_Adversarial_Perturbations#4: channels of a generated image are rescaled by .data.
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
import torchvision
from material.models.generators import ResnetGenerator, weights_init

parser = argparse.ArgumentParser()
parser.add_argument("--mag_in", type=float, default=10.0)
parser.add_argument("--optimizer", type=str, default="adam")
opt, _ = parser.parse_known_args()


def normalize_and_scale(delta_im, mode="train"):
    delta_im = delta_im + 1
    delta_im = delta_im * 0.5
    for c in range(3):
        delta_im[:, c, :, :] = (delta_im[:, c, :, :].clone() - 0.4) / 0.2
    for i in range(delta_im.size(0)):
        for ci in range(3):
            l_inf = delta_im[i, ci].detach().abs().max()
            delta_im.data[i, ci] *= opt.mag_in / (255.0 * l_inf)  #~ delta_im = torch.cat([delta_im[:i], delta_im[i : i + 1] * (opt.mag_in / (255.0 * l_inf)), delta_im[i + 1 :]])
    return delta_im


def train(netG, pretrained, images, optimizerG):
    for itr, image in enumerate(images):
        netG.zero_grad()
        delta_im = normalize_and_scale(torch.tanh(netG(image)), "train")
        recons = torch.clamp(image + delta_im, image.min().item(), image.max().item())
        loss = torch.log(pretrained(recons).pow(2).mean())
        loss.backward()
        optimizerG.step()
    return loss
#: run
torch.manual_seed(0)
g = nn.Conv2d(3, 3, 1)
train(g, nn.Conv2d(3, 1, 1), [torch.rand(1, 3, 4, 4)], optim.SGD(g.parameters(), lr=0.1))
print(g.weight.grad.abs().sum())
