# shap/shap#3466, #3565: hooks on every leaf module; the block adds in place.
import numpy as np
import torch
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, planes):
        super().__init__()
        self.conv1 = nn.Conv2d(planes, planes, 3, padding=1)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1)

    def forward(self, x):
        shortcut = x
        out = self.conv2(self.relu(self.conv1(x)))
        out += shortcut  #~ out = out + shortcut
        return self.relu(out)


class PyTorchDeep:
    def __init__(self, model, data):
        self.model, self.data = model.eval(), data

    def add_handles(self, model, backward_handle):
        handles = []
        for child in model.children():
            if list(child.children()):
                handles.extend(self.add_handles(child, backward_handle))
            else:
                handles.append(child.register_full_backward_hook(backward_handle))
        return handles

    def gradient(self, idx, inputs):
        self.model.zero_grad()
        X = [x.requires_grad_() for x in inputs]
        outputs = self.model(*X)
        selected = [val for val in outputs[:, idx]]
        return [torch.autograd.grad(val.sum(), x, retain_graph=True)[0] for x in X for val in selected]

    def shap_values(self, X):
        handles = self.add_handles(self.model, deeplift_grad)
        values = self.gradient(0, X)
        for handle in handles:
            handle.remove()
        return values


def deeplift_grad(module, grad_input, grad_output):
    return None


net = nn.Sequential(nn.Conv2d(3, 4, 1), BasicBlock(4))
explainer = PyTorchDeep(net, [])
explainer.shap_values([torch.rand(1, 3, 5, 5)])
