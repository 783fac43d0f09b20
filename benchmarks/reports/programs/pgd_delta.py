# rwightman/pytorch-nips2017-attack-example#5 and others: a perturbation is clamped in place.
import torch
import torch.nn as nn


class LinfPGD:
    def __init__(self, predict, loss_fn=None, eps=0.3, nb_iter=40, eps_iter=0.01):
        self.predict, self.eps, self.nb_iter, self.eps_iter = predict, eps, nb_iter, eps_iter
        self.loss_fn = loss_fn if loss_fn is not None else nn.CrossEntropyLoss(reduction="sum")

    def perturb(self, x, y):
        delta = torch.zeros_like(x)
        delta = nn.Parameter(delta)
        delta.data.uniform_(-self.eps, self.eps)
        for ii in range(self.nb_iter):
            outputs = self.predict(x + delta)
            loss = self.loss_fn(outputs, y)
            loss.backward()
            delta += self.eps_iter * delta.grad.sign()  #~ delta.data += self.eps_iter * delta.grad.sign()
            delta.data.clamp_(-self.eps, self.eps)
            delta.grad.zero_()
        return (x + delta).detach()
#: run
LinfPGD(nn.Linear(3, 2)).perturb(torch.rand(2, 3), torch.tensor([0, 1]))
