# A Paddle model in the style of PaddleSeg: windows of what softmax returned are overwritten.
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddleseg.cvlibs import manager, param_init
from paddleseg.utils import utils


@manager.BACKBONES.add_component
class WindowAttention(nn.Layer):
    def __init__(self, dim, num_heads, attn_drop=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, pad=None):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape([B, N, 3, self.num_heads, C // self.num_heads]).transpose([2, 0, 3, 1, 4])
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = F.softmax(paddle.matmul(q, k, transpose_y=True), axis=-1)
        if pad is not None:
            attn[:, :, :, -pad:] = 0.0  #~ attn = attn * (paddle.arange(N) < N - pad).astype(attn.dtype)
        x = paddle.matmul(self.attn_drop(attn), v).transpose([0, 2, 1, 3]).reshape([B, N, C])
        return self.proj(x)
#: stubs
STUBS["paddleseg.cvlibs"].manager = type("M", (), {"BACKBONES": type("B", (), {"add_component": staticmethod(lambda c: c)})})
#: run
WindowAttention(4, 2)(paddle.rand([1, 3, 4]), 1).sum().backward()
