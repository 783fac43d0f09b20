# Lightning-AI/pytorch-lightning#5545 and others: manual optimization of a GAN with one forward.
import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn


class GAN(pl.LightningModule):
    def __init__(self, latent=4):
        super().__init__()
        self.automatic_optimization = False
        self.generator = nn.Sequential(nn.Linear(latent, 8), nn.ReLU(), nn.Linear(8, 4))
        self.discriminator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

    def configure_optimizers(self):
        opt_g = torch.optim.Adam(self.generator.parameters(), lr=2e-4)
        opt_d = torch.optim.Adam(self.discriminator.parameters(), lr=2e-4)
        return [opt_g, opt_d], []

    def training_step(self, batch, batch_idx):
        real, _ = batch
        opt_g, opt_d = self.optimizers()
        fake = self.generator(torch.randn(real.size(0), 4).type_as(real))
        logits = self.discriminator(fake)
        g_loss = F.binary_cross_entropy_with_logits(logits, torch.ones_like(logits))
        d_loss = F.binary_cross_entropy_with_logits(self.discriminator(real), torch.ones_like(logits))
        d_loss = d_loss + F.binary_cross_entropy_with_logits(logits, torch.zeros_like(logits))
        opt_d.zero_grad()
        self.manual_backward(d_loss, retain_graph=True)
        opt_d.step()  #~ g_loss = -self.discriminator(fake).mean()
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()
        self.log_dict({"g_loss": g_loss, "d_loss": d_loss}, prog_bar=True)
#: stubs
import torch
class LightningModule(torch.nn.Module):
    def optimizers(self): return self.configure_optimizers()[0]
    def manual_backward(self, l, **k): l.backward(**k)
    def log_dict(self, *a, **k): pass
STUBS["pytorch_lightning"].LightningModule = LightningModule
#: run
GAN().training_step((torch.rand(2, 4), None), 0)
