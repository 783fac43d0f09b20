# tamarott/SinGAN#126, #148: one fake image is used for all steps of the generator.
import os

import SinGAN.functions as functions
import SinGAN.models as models
import torch
import torch.nn as nn
import torch.optim as optim


def train_single_scale(netD, netG, real, opt):
    optimizerD = optim.Adam(netD.parameters(), lr=opt.lr_d, betas=(opt.beta1, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=opt.lr_g, betas=(opt.beta1, 0.999))
    schedulerD = torch.optim.lr_scheduler.MultiStepLR(optimizer=optimizerD, milestones=[1600], gamma=opt.gamma)
    errD2plot = []
    for epoch in range(opt.niter):
        noise_ = torch.randn_like(real)
        for j in range(opt.Dsteps):
            netD.zero_grad()
            output = netD(real)
            errD_real = -output.mean()
            errD_real.backward(retain_graph=True)
            D_x = -errD_real.item()
            fake = netG(noise_)
            errD_fake = netD(fake.detach()).mean()
            errD_fake.backward(retain_graph=True)
            optimizerD.step()
        errD2plot.append(D_x)
        for j in range(opt.Gsteps):
            netG.zero_grad()
            output = netD(fake)  #~ output = netD(netG(noise_))
            errG = -output.mean()
            errG.backward(retain_graph=True)
            optimizerG.step()  #!
        schedulerD.step()
    return netG
#: run
import types
net = lambda: nn.Sequential(nn.Conv2d(3, 4, 1), nn.LeakyReLU(0.2), nn.Conv2d(4, 3, 1), nn.Tanh(), nn.Conv2d(3, 3, 1))
train_single_scale(net(), net(), torch.rand(1, 3, 4, 4), types.SimpleNamespace(lr_d=0.1, lr_g=0.1, beta1=0.5, gamma=0.1, niter=1, Dsteps=2, Gsteps=2))
