# honeytidy's program with several steps of the discriminator on one graph (forum answers to #39141).
import itertools

import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, img):
        return self.model(img.view(img.size(0), -1))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(True), nn.Linear(16, 8), nn.Tanh())

    def forward(self, z):
        return self.model(z)


def train(dataloader, opt):
    adversarial_loss = torch.nn.BCELoss()
    generator, discriminator = Generator(), Discriminator()
    optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr)
    optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr)
    for epoch in range(opt.n_epochs):
        for i, (imgs, _) in enumerate(dataloader):
            valid = Variable(torch.ones(imgs.size(0), 1), requires_grad=False)
            z = Variable(torch.randn(imgs.size(0), 4))
            gen_imgs = generator(z)
            g_loss = adversarial_loss(discriminator(gen_imgs), valid)
            optimizer_G.zero_grad()
            g_loss.backward(retain_graph=True)
            optimizer_G.step()  #!
            d_loss = adversarial_loss(discriminator(gen_imgs), 1 - valid)  #~ d_loss = adversarial_loss(discriminator(gen_imgs.detach()), 1 - valid)
            optimizer_D.zero_grad()
            d_loss.backward()
            optimizer_D.step()
#: run
import types
train([(torch.rand(2, 8), None)], types.SimpleNamespace(lr=0.1, n_epochs=1))
