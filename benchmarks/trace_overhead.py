"""
Measures a training step of PyTorch: plain, watched and with anomaly mode, on a small and a larger network.

    python benchmarks/trace_overhead.py [ROUNDS]

Steps of the kinds take turns, so that other work on the machine falls on all of them; printed are the median of the
plain step, and the ratios of the other medians to it.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

import inplace_lint

_ROUNDS = 30


class Block(nn.Module):
    """Two convolutions with batch norm, and the identity added."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = (nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2))
        self.norms = nn.ModuleList([nn.BatchNorm2d(width), nn.BatchNorm2d(width)])
        self.act = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the activated sum."""
        y = self.act(self.norms[0](self.first(x)))
        return self.act(self.norms[1](self.second(y)) + x)


def network(width: int, blocks: int) -> nn.Module:
    """Return a residual network for ten classes."""
    body = [Block(width) for _ in range(blocks)]
    return nn.Sequential(nn.Conv2d(3, width, 3), *body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def step_of(width: int, blocks: int, batch: int, side: int) -> Callable[[], None]:
    """Return a function that does one training step."""
    model, x, y = network(width, blocks), torch.randn(batch, 3, side, side), torch.randint(10, (batch,))
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def main() -> None:
    """Print one line for each network."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else _ROUNDS
    torch.set_num_threads(1)
    kinds: dict[str, Callable[[], AbstractContextManager[object]]] = {
        "plain": nullcontext,
        "watched": inplace_lint.watch,
        "anomaly": lambda: torch.autograd.set_detect_anomaly(True),
        "anomaly, no NaN check": lambda: torch.autograd.set_detect_anomaly(True, check_nan=False),
    }
    for name, shape in {"small": (8, 4, 4, 12), "large": (64, 8, 8, 32)}.items():
        step = step_of(*shape)
        step()
        spent: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(rounds if name == "small" else max(rounds // 4, 3)):
            for kind, context in kinds.items():
                with context():
                    step()  # what the first step under a mode has to set up is not the cost of a step
                    started = time.perf_counter()
                    step()
                    spent[kind].append(time.perf_counter() - started)
        middle = {kind: statistics.median(times) for kind, times in spent.items()}
        ratios = "  ".join(f"{kind} {value / middle['plain']:.2f}" for kind, value in middle.items())
        print(f"{name}: plain {1000 * middle['plain']:.1f} ms  ratios: {ratios}")


if __name__ == "__main__":
    main()
