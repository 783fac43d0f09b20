# PaddlePaddle/Paddle#45119: items of what an activation saved are assigned.
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Decoder(nn.Layer):
    def __init__(self, hidden=4, steps=3):
        super().__init__()
        self.steps = steps
        self.fc = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, h):
        state = F.relu(self.fc(h))
        for t in range(self.steps):
            step = paddle.tanh(self.fc(state[:, t]))
            state[:, t] = step  #~ pass
        return self.out(state).mean()


def train(loader, epochs):
    model = Decoder()
    opt = paddle.optimizer.Adam(parameters=model.parameters())
    for epoch in range(epochs):
        for batch_id, data in enumerate(loader()):
            loss = model(data)
            loss.backward()
            opt.step()
            opt.clear_grad()
            if batch_id % 10 == 0:
                print("epoch {} loss {}".format(epoch, float(loss)))
#: run
train(lambda: [paddle.rand([2, 3, 4])], 1)
