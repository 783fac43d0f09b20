# naver-ai/StyleMapGAN#16-like: two losses of one graph, an optimizer's step between.
import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils import data


class Model(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, args.dim), nn.LeakyReLU(0.2), nn.Linear(args.dim, 4))
        self.generator = nn.Sequential(nn.Linear(4, args.dim), nn.LeakyReLU(0.2), nn.Linear(args.dim, 6))

    def forward(self, real, mode):
        if mode == "G":
            code = torch.randn(real.size(0), 4)
            fake = self.generator(code)
            w_rec = F.mse_loss(self.encoder(fake), code)
            return fake.mean(), w_rec, code
        return F.mse_loss(self.generator(self.encoder(real)), real)


def train(args, loader, model):
    g_optim = optim.Adam(model.generator.parameters(), lr=args.lr)
    e_optim = optim.Adam(model.encoder.parameters(), lr=args.lr)
    for i in range(args.iter):
        real = next(loader)
        adv_loss, w_rec_loss, code = model(real, "G")
        g_optim.zero_grad()
        adv_loss.backward(retain_graph=True)
        g_optim.step()  #~ w_rec_loss = model(real, "G")[1]
        e_optim.zero_grad()
        (w_rec_loss * args.lambda_w_rec_loss).backward()
        e_optim.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iter", type=int, default=2)
    parser.add_argument("--dim", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.002)
    parser.add_argument("--lambda_w_rec_loss", type=float, default=1)
    args, _ = parser.parse_known_args()
    train(args, iter([torch.rand(2, 6), torch.rand(2, 6)]), Model(args))
