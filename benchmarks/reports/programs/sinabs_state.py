# synsense/sinabs#5: a state is zeroed in place but keeps its graph.
import torch
import torch.nn as nn


class StatefulLayer(nn.Module):
    def __init__(self, state_names):
        super().__init__()
        for name in state_names:
            self.register_buffer(name, torch.zeros(()))

    def is_state_initialised(self):
        return all(buffer.shape != torch.Size([]) for buffer in self.buffers())

    def init_state(self, shape):
        for name, buffer in self.named_buffers():
            self.register_buffer(name, torch.zeros(shape, device=buffer.device))

    def reset_states(self):
        if self.is_state_initialised():
            for buffer in self.buffers():
                buffer.zero_()  #~ buffer.detach_().zero_()


class LIF(StatefulLayer):
    def __init__(self, alpha=0.9):
        super().__init__(["v_mem"])
        self.alpha = nn.Parameter(torch.tensor(alpha))

    def forward(self, data):
        if not self.is_state_initialised():
            self.init_state((data.shape[0], data.shape[2]))
        out = []
        for step in range(data.shape[1]):
            self.v_mem = self.alpha * self.v_mem + data[:, step]
            out.append(torch.sigmoid(self.v_mem))
        return torch.stack(out, 1)


net = nn.Sequential(nn.Linear(3, 4), LIF())
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for epoch in range(2):
    optimizer.zero_grad()
    net[1].reset_states()
    loss = net(torch.rand(2, 5, 3)).pow(2).sum()
    loss.backward()
    optimizer.step()
