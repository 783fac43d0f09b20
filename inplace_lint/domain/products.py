"""
Which operands a product of matrices keeps for backward, and of which it keeps a copy.

`matmul` and `einsum` are one product of matrices, or of batches of them. An operand whose axes do not fit is copied,
and backward needs the copy only:

    q = proj(x).view(B, N, H, D).transpose(1, 2)    # the axes B and H of q do not merge into one
    scores = q @ k.transpose(-2, -1)                # copies q, which may be overwritten from here on
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from inplace_lint.domain import shape
from inplace_lint.domain.shape import NOTHING, Axes, Axis, Part
from inplace_lint.domain.values import Const, Three, Value

MATRIX, _BATCH = 2, 3
_DOTS = "..."
_LETTERS = re.compile(r"\.\.\.|[a-zA-Z]")
_WORDS = re.compile(r"\w+")
_NAMES = re.compile(r"\.\.\.|\w+")


def matmul_keeps(axes: Axes, other: Axes | None, *, first: bool) -> Three:
    """
    Return whether `matmul` keeps an operand of these axes itself, and no copy; None if unknown.

    `other`: the axes of the other operand, None if these are unknown. `first`: it is the first of the two.
    """
    if len(axes) <= MATRIX:
        return True
    if other is not None and _is_one_matrix(other, axes):  # the rows of the batch below each other make one matrix, too
        return shape.merge(axes[:-1] if first else (*axes[:-2], axes[-1]))[1]
    return _merges(_expanded(axes[:-2], None if other is None else other[:-2]))


def _is_one_matrix(axes: Axes, beside: Axes) -> bool:
    return len(axes) <= MATRIX or (len(axes) == len(beside) == _BATCH and axes[0].size == 1 != beside[0].size)


def _expanded(batch: Axes, other: Axes | None) -> Axes:
    """Return the axes of a batch, as large as those of another one."""
    if other is None:
        return batch
    batch = (*[Axis(1)] * (len(other) - len(batch)), *batch)
    pairs = zip(reversed(batch), reversed(other), strict=False)
    last = [Axis(two.size, NOTHING) if one.size == 1 != two.size else one for one, two in pairs]
    return (*batch[: len(batch) - len(last)], *reversed(last))


def _merges(axes: Axes) -> Three:
    longer = [axis for axis in axes if axis.size != 1]
    empty = [axis.stride == NOTHING for axis in longer]
    return all(empty) if any(empty) else shape.merge(axes)[1]


def einsum_keeps(equation: Value | None, number: int, axes: Axes | None, *, contiguous: Three) -> Three:
    """
    Return whether `einsum` keeps its operand with this number itself, and no copy; None if unknown.

    `axes`: those of the operand, None if these are unknown.
    """
    text = equation.value if isinstance(equation, Const) else None
    if not isinstance(text, str):
        return None
    inputs, result = _sides(text)
    if number >= len(inputs) or (axes is None and _DOTS in inputs[number] and not contiguous):
        return None
    if _DOTS in chain(*inputs):  # of unknown axes that are contiguous, the dots are as good as one
        inputs, result = _without_dots(inputs, result, number, len(inputs[number]) if axes is None else len(axes))
    own = inputs[number]
    if len(inputs) > MATRIX:  # their order depends on sizes, and on what is installed
        return True if len(set(own)) <= MATRIX and not set(own).isdisjoint(result) else None
    if axes is None:
        sizes = tuple([Part(None, (letter,)) for letter in own])
        axes = shape.dense(sizes) if contiguous else tuple([Axis(size) for size in sizes])
    if len(axes) != len(own) or len(set(own)) != len(own):
        return None
    return _fits(dict(zip(own, axes, strict=True)), inputs[1 - number] if len(inputs) > 1 else [], result)


def einsum_order(equation: Value | None) -> list[int] | None:
    """Return the axes of what `einsum` computes of two operands, in the order that these have in memory, if known."""
    text = equation.value if isinstance(equation, Const) else None
    if not isinstance(text, str):
        return None
    inputs, result = _sides(text)
    if len(inputs) != MATRIX or not set(chain(*inputs)) - set(result) or _DOTS in result:
        return None
    left, right = inputs
    shared = [one for one in result if one in left and one in right]
    alone = [[one for one in result if one not in other] for other in (right, left)]
    return [result.index(one) for one in chain(shared, *alone)]


def _fits(axes: dict[str, Axis], other: Sequence[str], result: Sequence[str]) -> Three:
    """Return whether axes by letter fit a product with an operand of other letters."""
    if any(letter not in other and letter not in result for letter in axes):
        return False  # these axes are summed first
    summed = sorted(letter for letter in axes if letter not in result)
    if not summed:
        return True  # elementwise
    left = [letter for letter in result if letter in axes]
    groups = (summed, [one for one in left if one in other], [one for one in left if one not in other])
    found = [shape.merge(tuple([axes[one] for one in group]))[1] for group in groups]
    return False if False in found else None if None in found else True


def _sides(text: str) -> tuple[list[list[str]], list[str]]:
    """Return the letters of each operand and of the result; names, as einops allows them, are numbered."""
    left, arrow, right = text.partition("->")
    words = _NAMES if " " in text.strip() and any(len(word) > 1 for word in _WORDS.findall(text)) else _LETTERS
    parts = [words.findall(part) for part in (*left.split(","), right)]
    if words is _NAMES:
        numbers = {name: name if name == _DOTS else f"{i:02}" for i, name in enumerate(dict.fromkeys(chain(*parts)))}
        parts = [[numbers[name] for name in part] for part in parts]
    every = list(chain(*parts[:-1]))
    return parts[:-1], parts[-1] if arrow else sorted(one for one in every if every.count(one) == 1)


def _without_dots(
    inputs: list[list[str]], result: list[str], number: int, rank: int
) -> tuple[list[list[str]], list[str]]:
    """Return the letters with one for each axis that the dots of an operand of this rank stand for."""
    dots = [f" {i:02}" for i in range(rank - len(inputs[number]) + 1)]

    def filled(letters: list[str]) -> list[str]:
        return list(chain(*[dots if letter == _DOTS else [letter] for letter in letters]))

    return [filled(letters) for letters in inputs], filled(result)
