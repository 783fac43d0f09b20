"""Patterns of einops: what `rearrangement` says of a tensor is what einops and torch make of it."""

from __future__ import annotations

import random

import pytest
import torch
from einops import rearrange

from inplace_lint.domain import rearrangement
from inplace_lint.domain.shape import Axis
from inplace_lint.domain.values import Const

Side = list[list[str]]


def _text(side: Side) -> str:
    return " ".join("1" if not group else group[0] if len(group) == 1 else f"({' '.join(group)})" for group in side)


def _groups(names: list[str], draw: random.Random) -> Side:
    side: Side = []
    while names:
        count = draw.choice([1, 1, 2, 3])
        side.append(names[:count])
        names = names[count:]
        side.extend([[]] if draw.random() < 0.1 else [])
    return side


def _tensor(sizes: list[int], draw: random.Random) -> torch.Tensor:
    kind = draw.randrange(3)
    if kind == 0:
        return torch.rand(sizes)
    if kind == 1:
        return torch.rand([size + 1 for size in sizes])[tuple(slice(0, size) for size in sizes)]
    return torch.rand(sizes[::-1]).permute(*range(len(sizes) - 1, -1, -1))


@pytest.mark.parametrize("seed", range(100))
def test_random_patterns(seed: int) -> None:
    """Sizes, strides and whether it is a view agree with a real call, for patterns and strides drawn at random."""
    draw = random.Random(seed)
    names = draw.sample("abcde", draw.randint(2, 5))
    sizes = {name: draw.choice([2, 3, 4]) for name in names}
    left, right = _groups(names, draw), _groups(draw.sample(names, len(names)), draw)
    pattern = f"{_text(left)} -> {_text(right)}"
    alone = next((group[0] for group in left if len(group) == 1), "")
    if alone and draw.random() < 0.3:
        pattern = pattern.replace(alone, "...")
    lengths = {name: sizes[name] for group in left if len(group) > 1 for name in group}
    x = _tensor([torch.Size(sizes[name] for name in group).numel() for group in left], draw)
    real = rearrange(x, pattern, **lengths)
    axes = tuple(Axis(size, (stride, ())) for size, stride in zip(x.shape, x.stride(), strict=True))
    found = rearrangement.rearranged(Const(pattern), axes, lengths.get)
    is_view = real.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert rearrangement.views(Const(pattern), axes, lengths.get) == is_view
    assert found is not None
    assert tuple(axis.size for axis in found) == real.shape
    if is_view:
        strides = [axis.stride[0] if axis.stride else None for axis in found]
        assert all(
            size == 1 or one == other for one, other, size in zip(strides, real.stride(), real.shape, strict=True)
        )
