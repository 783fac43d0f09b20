# jadore801120/attention-is-all-you-need-pytorch#16: attention is masked through .data after the softmax.
import numpy as np
import torch
import torch.nn as nn


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_model, attn_dropout=0.0):
        super(ScaledDotProductAttention, self).__init__()
        self.temper = np.power(d_model, 0.5)
        self.dropout = nn.Dropout(attn_dropout)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, attn_mask=None):
        attn = torch.bmm(q, k.transpose(1, 2)) / self.temper
        attn = self.softmax(attn)
        if attn_mask is not None:
            attn.data.masked_fill_(attn_mask, 0)  #~ attn = attn.masked_fill(attn_mask, 0)
        attn = self.dropout(attn)
        return torch.bmm(attn, v), attn
#: run
torch.manual_seed(0)
q = torch.rand(1, 3, 4, requires_grad=True)
ScaledDotProductAttention(4)(q, torch.rand(1, 3, 4), torch.rand(1, 3, 4), torch.ones(1, 3, 3).triu(1).bool())[0].sum().backward()
print(q.grad)
