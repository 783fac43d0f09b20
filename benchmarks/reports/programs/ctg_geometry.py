# NVlabs/CTG#3: a yaw is unwrapped in place in a geometry helper.
import numpy as np
import torch


def transform_points(points, mat):
    return points @ mat[..., :2, :2].transpose(-1, -2) + mat[..., :2, 2].unsqueeze(-2)


def transform_agents_to_world(pos_pred, yaw_pred, data_batch):
    world_from_agents = data_batch["world_from_agent"]
    yaws = data_batch["yaw"].unsqueeze(-1)
    pos = transform_points(pos_pred, world_from_agents)
    heading = torch.cos(yaw_pred)
    yaw_pred += yaws  #~ yaw_pred = yaw_pred + yaws
    return pos, yaw_pred, heading


class KeepDistanceLoss:
    def __init__(self, weight=1.0):
        self.weight = weight

    def forward(self, x, data_batch):
        pos, yaw, heading = transform_agents_to_world(x[..., :2], x[..., 3:4], data_batch)
        return self.weight * (pos.norm(dim=-1).mean() + yaw.abs().mean() + heading.mean())


class DiffuserModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(6, 4)
        self.guidance = KeepDistanceLoss()

    def forward(self, noisy, data_batch):
        return self.guidance.forward(self.net(noisy), data_batch)
#: run
DiffuserModel()(torch.rand(2, 3, 6), {"world_from_agent": torch.rand(2, 3, 3), "yaw": torch.rand(2, 3)}).backward()
