# A GAN in Paddle: the losses of both networks before the first step.
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.io import DataLoader
from visualdl import LogWriter


class Generator(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gen = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 6), nn.Tanh())

    def forward(self, x):
        return self.gen(x)


class Discriminator(nn.Layer):
    def __init__(self):
        super().__init__()
        self.dis = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid())

    def forward(self, x):
        return self.dis(x)


def train(loader, epochs=1):
    netG, netD = Generator(), Discriminator()
    optimizerD = paddle.optimizer.Adam(parameters=netD.parameters(), learning_rate=0.1)
    optimizerG = paddle.optimizer.Adam(parameters=netG.parameters(), learning_rate=0.1)
    loss = nn.BCELoss()
    for epoch in range(epochs):
        for batch_id, data in enumerate(loader()):
            fake = netG(paddle.randn([2, 4]))
            out = netD(fake)
            errD = loss(netD(data), paddle.ones([2, 1])) + loss(out, paddle.zeros([2, 1]))
            optimizerD.clear_grad()
            errD.backward(retain_graph=True)
            optimizerD.step()
            errG = loss(netD(fake), paddle.ones([2, 1]))
            optimizerG.clear_grad()
            errG.backward()
            optimizerG.step()
            fake *= 0.5  #!
            style = (fake.pow(2) + out).mean()
            style.backward()  #~ pass
#: run
train(lambda: [paddle.rand([2, 6])])
