# PaddlePaddle/PaddleNLP#5723: an initializer without no_grad.
import math

import paddle
import paddle.nn as nn


def _calculate_fan(tensor):
    return tensor.shape[0]


def uniform_init(tensor, a=0.0):
    fan = _calculate_fan(tensor)
    bound = math.sqrt(3.0) * math.sqrt(2.0 / ((1 + a**2) * fan))
    tensor.uniform_(min=-bound, max=bound)  #~ tensor.detach().uniform_(min=-bound, max=bound)


class LoRALinear(nn.Layer):
    def __init__(self, linear, rank=4):
        super().__init__()
        self.linear = linear
        self.lora_down = nn.Linear(linear.weight.shape[0], rank, bias_attr=False)
        self.lora_up = nn.Linear(rank, linear.weight.shape[1], bias_attr=False)
        uniform_init(self.lora_down.weight, a=math.sqrt(5))

    def forward(self, x):
        return self.linear(x) + self.lora_up(self.lora_down(x))


def apply_lora(model, ratio=0.75):
    for name, child in model.named_sublayers():
        if child.__class__.__name__ == "Linear" and "attn" in name:
            setattr(model, name, LoRALinear(child))
#: run
LoRALinear(nn.Linear(4, 4))
