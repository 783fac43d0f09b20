# NVIDIA/Megatron-LM#1594: a custom function subtracts the maximum from its input.
import torch


class VocabCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        logits = logits.float()  #~ logits = logits.float().clone()
        logits_max = torch.max(logits, dim=-1)[0]
        logits -= logits_max.unsqueeze(dim=-1)  #!
        predicted = logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
        exp_logits = torch.exp(logits)
        sums = exp_logits.sum(dim=-1)
        exp_logits.div_(sums.unsqueeze(dim=-1))
        ctx.save_for_backward(exp_logits, target)
        return torch.log(sums) - predicted

    @staticmethod
    def backward(ctx, grad_output):
        softmax, target = ctx.saved_tensors
        grad = softmax.clone()
        grad.scatter_add_(-1, target.unsqueeze(-1), -torch.ones_like(target.unsqueeze(-1), dtype=grad.dtype))
        return grad * grad_output.unsqueeze(-1), None


class Head(torch.nn.Module):
    def __init__(self, dim, vocab):
        super().__init__()
        self.proj = torch.nn.Linear(dim, vocab)

    def forward(self, x, labels):
        logits = self.proj(x)
        z_loss = torch.logsumexp(logits, -1).pow(2).mean()
        return VocabCrossEntropy.apply(logits, labels).mean() + 1e-4 * z_loss
#: run
torch.manual_seed(0)
h = Head(3, 4)
h(torch.rand(2, 3), torch.tensor([1, 2])).backward()
print(h.proj.weight.grad)
