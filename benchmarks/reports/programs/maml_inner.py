# Meta learning by hand: fast weights are the parameters themselves.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Learner(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.vars = nn.ParameterList([nn.Parameter(torch.rand(dim, dim)), nn.Parameter(torch.zeros(dim)), nn.Parameter(torch.rand(1, dim))])

    def forward(self, x, vars=None):
        w1, b1, w2 = self.vars if vars is None else vars
        return F.linear(torch.tanh(F.linear(x, w1, b1)), w2)


class Meta(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.update_lr, self.update_step = args.update_lr, args.update_step
        self.net = Learner()
        self.meta_optim = torch.optim.Adam(self.net.parameters(), lr=args.meta_lr)

    def forward(self, x_spt, y_spt, x_qry, y_qry):
        losses_q = 0
        for i in range(x_spt.size(0)):
            for k in range(self.update_step):
                loss = F.mse_loss(self.net(x_spt[i]), y_spt[i])
                grad = torch.autograd.grad(loss, self.net.parameters(), create_graph=True)
                for g, p in zip(grad, self.net.parameters()):
                    p.data.sub_(self.update_lr * g)  #!
            losses_q = losses_q + F.mse_loss(self.net(x_qry[i]), y_qry[i]) + loss
        losses_q = losses_q / x_spt.size(0)  #~ losses_q = F.mse_loss(self.net(x_qry[0]), y_qry[0])
        self.meta_optim.zero_grad()
        losses_q.backward()
        print(self.net.vars[0].grad.sum())
        self.meta_optim.step()


torch.manual_seed(1)


class Args:
    update_lr, update_step, meta_lr = 0.1, 2, 0.1


Meta(Args)(torch.rand(2, 3, 4), torch.rand(2, 3, 1), torch.rand(2, 3, 4), torch.rand(2, 3, 1))
