# MisaOgura/flashtorch#45: rows of a batch are written while the batch is iterated.
import numpy as np
import torch
import torch.nn as nn


class Backprop:
    def __init__(self, model):
        self.model = model.eval()
        self.gradients = None

    def calculate_gradients(self, input_, target_class=None):
        output = self.model(input_)
        for row in output:
            row /= row.norm()  #~ row = row / row.norm()
        top = output.topk(1, dim=1)[1]
        gradients = torch.zeros(output.shape)
        gradients[0][top[0] if target_class is None else target_class] = 1
        output.backward(gradient=gradients)
        return input_.grad


backprop = Backprop(nn.Sequential(nn.Linear(4, 3)))
backprop.calculate_gradients(torch.rand(2, 4, requires_grad=True))
