# TobiasHeOl/AbLang2#13: logits of special tokens are overwritten before the softmax was differentiated.
import torch
import torch.nn.functional as F
from torch import nn


class AbLangHead(nn.Module):
    def __init__(self, dim=4, vocab=6, mask_tkn=5, pad_tkn=4):
        super().__init__()
        self.dense, self.out, self.mask_tkn, self.pad_tkn = nn.Linear(dim, dim), nn.Linear(dim, vocab), mask_tkn, pad_tkn

    def forward(self, hidden):
        x = F.gelu(self.dense(hidden))
        probs = F.softmax(self.out(x), dim=-1)
        probs[:, :, [self.mask_tkn, self.pad_tkn]] = 1e-9  #~ probs = probs.clone().index_fill(2, torch.tensor([5, 4]), 1e-9)
        return -torch.log(probs).mean()


class Lightning:
    def __init__(self, hparams):
        self.hparams = hparams
        self.head = AbLangHead()

    def training_step(self, dataset, batch_idx):
        loss = self.head(dataset["input"])
        return {"loss": loss}
#: run
Lightning({}).training_step({"input": torch.rand(2, 3, 4)}, 0)["loss"].backward()
