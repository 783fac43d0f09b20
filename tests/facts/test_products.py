"""Which operands `matmul` and `einsum` keep themselves, on PyTorch: a write to one that is copied does no harm."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch

from inplace_lint.domain import products
from inplace_lint.domain.shape import Axes, Axis
from inplace_lint.domain.values import Const

_SIZES = dict(zip("abcdefghijkl", (2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6, 7), strict=True))


def _laid_out(sizes: list[int], draw: random.Random) -> torch.Tensor:
    """Return a tensor that is not a leaf, in one of the layouts that views have."""
    order = list(range(len(sizes)))
    if draw.random() < 0.7:
        draw.shuffle(order)
    wide = [sizes[axis] for axis in order]
    if wide and draw.random() < 0.3:
        wide[-1] *= 2
    tensor = torch.rand(wide, requires_grad=True).exp()
    if wide and wide[-1] != sizes[order[-1]]:
        tensor = tensor[..., : wide[-1] // 2]
    return tensor.permute([order.index(axis) for axis in range(len(sizes))]).detach()


def _axes(tensor: torch.Tensor) -> Axes:
    return tuple(Axis(size, (stride, ())) for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _is_kept(product: Callable[[list[torch.Tensor]], torch.Tensor], operands: list[torch.Tensor], number: int) -> bool:
    """Return whether a write to one of the operands makes backward raise."""
    alive = [operand.detach().requires_grad_() for operand in operands]
    loss = product(alive).sum()
    with torch.no_grad():
        alive[number].detach().add_(1)
    try:
        loss.backward()
    except RuntimeError:
        return True
    return False


@pytest.mark.parametrize("seed", range(60))
def test_matmul_keeps_an_operand_unless_its_axes_do_not_merge(seed: int) -> None:
    draw = random.Random(seed)
    batch = [draw.choice([1, 2, 3]) for _ in range(draw.randint(0, 3))]
    left = [*batch[draw.randint(0, len(batch)) :], 4, 5]
    right = [*batch[draw.randint(0, len(batch)) :], 5, 6]
    if len(left) > 2 and draw.random() < 0.3:
        left[0] = 1
    operands = [_laid_out(left, draw), _laid_out(right, draw)]
    for number in (0, 1):
        axes = [_axes(operand) for operand in operands]
        said = products.matmul_keeps(axes[number], axes[1 - number], first=number == 0)
        seen = _is_kept(lambda given: given[0] @ given[1], operands, number)
        assert said == seen, (number, [(tuple(one.shape), one.stride()) for one in operands])


@pytest.mark.parametrize("seed", range(120))
def test_einsum_keeps_an_operand_unless_its_axes_do_not_merge(seed: int) -> None:
    draw = random.Random(seed)
    letters = draw.sample("abcdef", draw.randint(2, 5))
    inputs = [draw.sample(letters, draw.randint(1, len(letters))) for _ in range(2)]
    used = sorted({letter for letters in inputs for letter in letters})
    result = draw.sample(used, draw.randint(0, len(used)))
    equation = ",".join("".join(one) for one in inputs) + "->" + "".join(result)
    operands = [_laid_out([_SIZES[letter] for letter in one], draw) for one in inputs]
    for number, operand in enumerate(operands):
        said = products.einsum_keeps(Const(equation), number, _axes(operand), contiguous=operand.is_contiguous())
        seen = _is_kept(lambda given: torch.einsum(equation, *given), operands, number)
        assert said == seen, (equation, number, [(tuple(one.shape), one.stride()) for one in operands])


def test_einsum_of_three_operands_keeps_matrices_in_any_order() -> None:
    operands = [torch.rand(2, 3), torch.rand(3, 4), torch.rand(4, 5)]
    for number, operand in enumerate(operands):
        said = products.einsum_keeps(Const("ij,jk,kl->il"), number, _axes(operand), contiguous=True)
        assert said is (None if number == 1 else True)
        assert _is_kept(lambda given: torch.einsum("ij,jk,kl->il", *given), operands, number)


def test_the_axes_that_dots_stand_for_are_those_of_a_batch() -> None:
    left, right = torch.rand(2, 3, 4, 5), torch.rand(2, 3, 6, 5)
    turned = left.permute(0, 2, 1, 3).contiguous().permute(0, 2, 1, 3)
    for operand, expected in ((left, True), (turned, False)):
        said = products.einsum_keeps(Const("...id,...jd->...ij"), 0, _axes(operand), contiguous=None)
        assert said is expected
        assert _is_kept(lambda given: torch.einsum("...id,...jd->...ij", *given), [operand, right], 0) is expected


def test_names_of_einops_are_letters_too() -> None:
    turned = torch.rand(2, 4, 3, 5).permute(0, 2, 1, 3)
    pattern = Const("batch heads i d, batch heads j d -> batch heads i j")
    assert products.einsum_keeps(pattern, 0, _axes(turned), contiguous=False) is False
