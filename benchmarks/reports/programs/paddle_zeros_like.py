# PaddlePaddle/Paddle#42190: a buffer made like a tensor that requires grad.
import paddle
import paddle.nn as nn


class DurationLoss(nn.Layer):
    def __init__(self, size=3):
        super().__init__()
        self.proj = nn.Linear(size, size)
        self.scale = self.create_parameter([size])

    def forward(self, x):
        log_scale = self.scale
        log_scale.add_(paddle.full_like(log_scale, 0.1))  #~ log_scale = log_scale + 0.1
        return self.proj(x) * paddle.exp(log_scale)


class Updater:
    def __init__(self, model, optimizer, loader):
        self.model, self.optimizer, self.loader = model, optimizer, loader

    def update(self):
        for batch in self.loader:
            loss = self.model(batch["feats"]).mean()
            self.optimizer.clear_grad()
            loss.backward()
            self.optimizer.step()
#: run
DurationLoss()(paddle.rand([2, 3]))
