"""
How random programs spell things in each framework.

In templates `{x}` is the tensor at hand, `{y}` an operand that broadcasts to it, `{w}` a 4x4 weight, `{m}` a mask and
`{i}` an index of rows. A template with its condition and the shape that it leads to stands in a `Reshaping`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshaping:
    """An expression whose result has another shape; `fits` says of which shapes it can be taken."""

    text: str
    fits: Callable[[Shape], bool]
    leads_to: Callable[[Shape], Shape]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The vocabulary of one framework."""

    name: str
    prelude: tuple[str, ...]
    leaf: tuple[str, ...]
    plain: tuple[str, ...]
    same: tuple[str, ...]
    square: tuple[str, ...]
    pair: tuple[str, ...]
    reduced: tuple[Reshaping, ...]
    views: tuple[Reshaping, ...]
    pieces: tuple[tuple[str, int, Callable[[Shape], bool], Callable[[Shape], Shape]], ...]
    writes: tuple[str, ...]
    square_writes: tuple[str, ...]
    pair_writes: tuple[str, ...]
    bent_writes: tuple[tuple[str, Callable[[Shape], bool], Callable[[Shape], Shape]], ...]
    operators: tuple[str, ...]
    numbers_in_writes: bool
    mask: str
    index: str
    mask_writes: tuple[str, ...]
    index_writes: tuple[str, ...]
    layers: tuple[str, ...]
    module: str
    forward: str
    out: tuple[str, ...]
    no_grad: str
    modes: tuple[str, ...]
    sizes: str
    optimizer: str
    optimizer_of: str
    clear: str
    grad: str


def split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", ";").split(";") if part.strip())


def at_least(least: int) -> Callable[[Shape], bool]:
    return lambda shape: len(shape) >= least


def with_rows(count: int) -> Callable[[Shape], bool]:
    return lambda shape: bool(shape) and shape[0] == count


def exactly(*shape: int) -> Callable[[Shape], bool]:
    return lambda given: given == shape


def _size(shape: Shape) -> int:
    size = 1
    for part in shape:
        size *= part
    return size


def tail(shape: Shape) -> Shape:
    return shape[1:]


def half(shape: Shape) -> Shape:
    return (shape[0] // 2, *shape[1:])


def flat(shape: Shape) -> Shape:
    return (_size(shape),)


def turned(shape: Shape) -> Shape:
    return (shape[1], shape[0], *shape[2:])


def flat_matrix(shape: Shape) -> bool:
    return len(shape) == 2


def in_halves(shape: Shape) -> bool:
    return bool(shape) and shape[0] in {2, 4}


SHARED_VIEWS = (
    Reshaping("{x}[0]", at_least(1), tail),
    Reshaping("{x}[-1]", at_least(1), tail),
    Reshaping("{x}[:2]", with_rows(4), half),
    Reshaping("{x}[1:3]", with_rows(4), half),
    Reshaping("{x}[::2]", with_rows(4), half),
    Reshaping("{x}[:, 0]", flat_matrix, lambda shape: shape[:1]),
    Reshaping("{x}[:, 1:3]", exactly(4, 4), lambda _: (4, 2)),
    Reshaping("{x}[...]", at_least(0), lambda shape: shape),
    Reshaping("{x}[None]", at_least(1), lambda shape: (1, *shape)),
    Reshaping("{x}.unsqueeze(0)", at_least(0), lambda shape: (1, *shape)),
    Reshaping("{x}.squeeze(0)", with_rows(1), tail),
    Reshaping("{x}.detach()", at_least(0), lambda shape: shape),
    Reshaping("{x}.data", at_least(0), lambda shape: shape),
    Reshaping("{x}.T", flat_matrix, turned),
    Reshaping("{x}.t()", flat_matrix, turned),
    Reshaping("{x}.flatten()", at_least(1), flat),
    Reshaping("{x}.diagonal()", exactly(4, 4), lambda _: (4,)),
    Reshaping("{x}.clone()", at_least(0), lambda shape: shape),
    Reshaping("{x}.contiguous()", at_least(0), lambda shape: shape),
)
