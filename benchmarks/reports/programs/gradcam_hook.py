# jacobgil/pytorch-grad-cam#183, pytorch/vision#4164: a full backward hook on an in-place layer's network.
import argparse

import cv2
import numpy as np
import torch
from torch import nn


class ConvBlock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 3, padding=1)
        self.bn = nn.BatchNorm2d(o)
        self.relu = nn.ReLU(inplace=True)  #!

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


class Net(nn.Module):
    def __init__(self, classes=2):
        super().__init__()
        self.features = nn.Sequential(ConvBlock(3, 4), ConvBlock(4, 4))
        self.classifier = nn.Linear(4, classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class ActivationsAndGradients:
    def __init__(self, model, target_layers):
        self.model, self.gradients, self.activations = model, [], []
        for target_layer in target_layers:
            target_layer.register_forward_hook(self.save_activation)
            target_layer.register_full_backward_hook(self.save_gradient)  #~ target_layer.register_forward_hook(self.save_activation)

    def save_activation(self, module, input, output):
        self.activations.append(output.cpu().detach())

    def save_gradient(self, module, grad_input, grad_output):
        self.gradients = [grad_output[0].cpu().detach()] + self.gradients

    def __call__(self, x):
        self.gradients, self.activations = [], []
        return self.model(x)


class GradCAM:
    def __init__(self, model, target_layers):
        self.model = model.eval()
        self.activations_and_grads = ActivationsAndGradients(self.model, target_layers)

    def __call__(self, input_tensor, category):
        output = self.activations_and_grads(input_tensor)
        self.model.zero_grad()
        output[:, category].sum().backward()
        return self.activations_and_grads.activations


if __name__ == "__main__":
    net = Net()
    cam = GradCAM(net, [net.features[0].bn])
    cam(torch.rand(1, 3, 8, 8), 1)
