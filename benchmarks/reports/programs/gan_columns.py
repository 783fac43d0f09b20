# A tabular generator (CTGAN-like): activations by ranges of columns.
import numpy as np
import torch
from ctgan.data_transformer import DataTransformer
from ctgan.synthesizers.base import BaseSynthesizer
from torch.nn import BatchNorm1d, Linear, Module, ReLU, Sequential


class Generator(Module):
    def __init__(self, embedding_dim, dims, data_dim):
        super(Generator, self).__init__()
        seq = []
        for item in list(dims):
            seq += [Linear(embedding_dim, item), BatchNorm1d(item), ReLU()]
            embedding_dim = item
        seq.append(Linear(embedding_dim, data_dim))
        self.seq = Sequential(*seq)

    def forward(self, z):
        return self.seq(z)


class Synthesizer(BaseSynthesizer):
    def __init__(self, output_info, dim=4):
        self._info, self._dim = output_info, dim
        self._generator = Generator(dim, (8,), sum(n for n, _ in output_info))
        self._optimizer = torch.optim.Adam(self._generator.parameters(), lr=2e-4, betas=(0.5, 0.9))

    def _apply_activate(self, data):
        st = 0
        for size, kind in self._info:
            ed = st + size
            if kind == "tanh":
                data[:, st:ed] = torch.tanh(data[:, st:ed])  #!
            else:
                data[:, st:ed] = torch.softmax(data[:, st:ed], 1)  #!
            st = ed
        return data

    def fit(self, train_data, discriminator, epochs=1):
        for i in range(epochs):
            fake = self._generator(torch.randn(6, self._dim))
            fakeact = self._apply_activate(fake)  #~ fakeact = torch.tanh(fake)
            loss_g = -torch.mean(discriminator(fakeact))
            self._optimizer.zero_grad()
            loss_g.backward()
            self._optimizer.step()
#: run
Synthesizer([(1, "tanh"), (3, "softmax")]).fit(None, torch.nn.Linear(4, 1))
