# pytorch/rl#1742: the hidden state is reset in place where an episode starts.
import torch
from torch import nn
from tensordict import TensorDictBase
from torchrl.data.tensor_specs import UnboundedContinuousTensorSpec


class GRUCore(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.cell = nn.GRUCell(n_in, n_hidden)

    def forward(self, values, hidden, is_init):
        outs = []
        for value, init in zip(values.unbind(1), is_init.unbind(1)):
            if init.any():
                hidden[init] = 0  #~ hidden = torch.where(init[:, None], torch.zeros_like(hidden), hidden)
            hidden = self.cell(value, hidden)
            outs.append(hidden)
        return torch.stack(outs, 1), hidden
#: run
init = torch.zeros(2, 3, dtype=torch.bool)
init[0, 2] = True
torch.manual_seed(0)
print(GRUCore(3, 4)(torch.rand(2, 3, 3), torch.zeros(2, 4), init)[0].sum())
