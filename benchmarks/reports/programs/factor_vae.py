# YannDubs/disentangling-vae#62: a discriminator's loss after the step of the encoder.
import abc
import logging

import torch
from torch import optim
from torch.nn import functional as F

from .discriminator import Discriminator
from disvae.utils.math import log_density_gaussian


class BaseLoss(abc.ABC):
    def __init__(self, record_loss_every=50, steps_anneal=0):
        self.n_train_steps = 0
        self.record_loss_every, self.steps_anneal = record_loss_every, steps_anneal

    @abc.abstractmethod
    def __call__(self, data, recon_data, latent_dist, is_train, storer, **kwargs):
        """Calculates loss for a batch of data."""

    def _pre_call(self, is_train, storer):
        if is_train:
            self.n_train_steps += 1


class FactorKLoss(BaseLoss):
    def __init__(self, device, gamma=10.0, disc_kwargs={}, optim_kwargs=dict(lr=5e-5), **kwargs):
        super().__init__(**kwargs)
        self.gamma, self.device = gamma, device
        self.discriminator = Discriminator(**disc_kwargs).to(self.device)
        self.optimizer_d = optim.Adam(self.discriminator.parameters(), **optim_kwargs)

    def __call__(self, *args, **kwargs):
        raise ValueError("Use `call_optimize` to also train the discriminator")

    def call_optimize(self, data, model, optimizer, storer):
        storer = self._pre_call(model.training, storer)
        data1, data2 = data.split(data.size(0) // 2)
        recon_batch, latent_dist, latent_sample1 = model(data1)
        rec_loss = F.mse_loss(recon_batch, data1)
        d_z = self.discriminator(latent_sample1)
        tc_loss = (d_z[:, 0] - d_z[:, 1]).mean()
        vae_loss = rec_loss + self.gamma * tc_loss
        if not model.training:
            return vae_loss
        optimizer.zero_grad()
        vae_loss.backward(retain_graph=True)
        optimizer.step()  #~ d_z = self.discriminator(latent_sample1.detach())
        latent_sample2 = model.sample_latent(data2)
        z_perm = latent_sample2.detach()
        d_z_perm = self.discriminator(z_perm)
        ones = torch.ones(len(data1), dtype=torch.long, device=self.device)
        d_tc_loss = 0.5 * (F.cross_entropy(d_z, torch.zeros_like(ones)) + F.cross_entropy(d_z_perm, ones))
        self.optimizer_d.zero_grad()
        d_tc_loss.backward()
        self.optimizer_d.step()
        return vae_loss
#: run
from torch import nn
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.f, self.d = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(2, 3)
    def sample_latent(self, x): return self.f(torch.relu(self.e(x)))
    def forward(self, x):
        z = self.sample_latent(x)
        return self.d(z), None, z
globals()["Discriminator"] = lambda: nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
vae = VAE()
FactorKLoss("cpu").call_optimize(torch.rand(4, 3), vae, optim.Adam(vae.parameters()), None)
