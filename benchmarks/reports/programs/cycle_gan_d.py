# A cycle GAN as in public repositories: fake images are kept by a pool that is not detached.
import itertools
import random

import torch
import torch.nn as nn

from .base_model import BaseModel
from . import networks


class ImagePool:
    def __init__(self, size):
        self.size, self.images = size, []

    def query(self, images):
        self.images.append(images)
        return random.choice(self.images[-self.size :])


class CycleGANModel(BaseModel):
    def __init__(self, opt):
        BaseModel.__init__(self, opt)
        self.netG = networks.define_G(opt.ngf)
        self.netD = networks.define_D(opt.ndf)
        self.fake_pool = ImagePool(1)
        self.criterionGAN = nn.MSELoss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr)
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr)

    def set_input(self, input):
        self.real_A, self.real_B = input["A"], input["B"]

    def forward(self):
        self.fake_B = self.netG(self.real_A)

    def backward_G(self):
        pred = self.netD(self.fake_B)
        self.loss_G = self.criterionGAN(pred, torch.ones_like(pred))
        self.loss_G.backward(retain_graph=True)

    def backward_D(self):
        fake = self.fake_pool.query(self.fake_B)  #~ fake = self.fake_pool.query(self.fake_B).detach()
        pred = self.netD(fake)
        self.loss_D = self.criterionGAN(pred, torch.zeros_like(pred))
        self.loss_D.backward()

    def optimize_parameters(self):
        self.forward()
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()  #!
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()
#: stubs
from torch import nn
STUBS["pkg.networks"].define_G = lambda n: nn.Sequential(nn.Linear(3, n), nn.ReLU(), nn.Linear(n, 3))
STUBS["pkg.networks"].define_D = lambda n: nn.Sequential(nn.Linear(3, n), nn.ReLU(), nn.Linear(n, 1))
#: run
import types
m = CycleGANModel(types.SimpleNamespace(ngf=4, ndf=4, lr=0.1))
m.set_input({"A": torch.rand(2, 3), "B": torch.rand(2, 3)})
m.optimize_parameters()
