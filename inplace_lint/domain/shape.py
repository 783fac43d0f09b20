"""
Axes of tensors: sizes and strides as terms, and what follows from them.

    B, N, C = x.shape                     # x: sizes (B, N, C), strides (N * C, C, 1)
    x.view(B, N, 2, 4).transpose(1, 2)    # sizes (B, 2, N, 4), strides (N * 8, 4, 8, 1): not contiguous

A size is a number, a symbol, or a certain part of another size; None where it is unknown. Different symbols are taken
for different numbers, and none for 1: IMPRECISE, but a size of 1 only makes a tensor contiguous that is taken for one
that is not.
"""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import NamedTuple, Protocol

from inplace_lint.domain.values import NONE, Const, SliceValue, Sym, Three, Value


class Part(NamedTuple):
    """The size of some part of an axis, which differs from that of the axis."""

    of: Size
    bounds: tuple[object, ...]


Size = int | Sym | Part | None
Atom = Sym | Part
Term = tuple[int, tuple[Atom, ...]]  # the product of a number and of sizes
_ONE: Term = (1, ())
NOTHING: Term = (0, ())  # the stride of an axis that was expanded


class Axis(NamedTuple):
    """One axis of a tensor; the stride is None where it is unknown, or where nobody asked."""

    size: Size
    stride: Term | None = None


Axes = tuple[Axis, ...]


class Operands(Protocol):
    """The arguments of a call, as the rules ask for them."""

    def axes(self, name: str) -> Axes | None:
        """Return the axes of a tensor; none for a number, None where they are unknown."""
        ...

    def several(self, name: str) -> list[Axes | None]:
        """Return the axes of each tensor in an argument; of a single one where these are unknown."""
        ...

    def numbers(self, name: str, *, all_known: bool = True) -> tuple[Size, ...] | None:
        """Return the numbers in an argument; none where it is not given, None where it is unknown."""
        ...

    def nested(self, name: str) -> tuple[Size, ...] | None:
        """Return the lengths of nested lists of numbers, or what `*args` say if not one list; None where unknown."""
        ...

    def flag(self, name: str) -> Three:
        """Return the truth of an argument."""
        ...

    def value(self, name: str) -> Value | None:
        """Return an argument."""
        ...

    def is_row(self, part: Value | None) -> bool:
        """Check whether a part of an index is one whole number, so that its axis goes away."""
        ...

    def takes_one(self, part: SliceValue) -> bool:
        """Check whether a slice takes one element of an axis, if that is long enough."""
        ...


def part_of(size: Size, bounds: tuple[object, ...]) -> Size:
    """Return the size of a part of an axis."""
    return None if size is None else Part(size, bounds)


def sliced(axis: Axis, part: SliceValue, *, one: bool) -> Axis:
    """Return what a slice takes of an axis; `one`: one element, of which an axis of unknown size is taken to have."""
    bounds = (part.lower, part.upper, part.step)
    if all(bound == NONE for bound in bounds):
        return axis
    if one and not isinstance(axis.size, int):
        return Axis(1, axis.stride)
    if not all(isinstance(bound, Const) for bound in bounds):
        return Axis(None, axis.stride if part.step in {NONE, Const(1)} else None)
    lower, upper, step = (bound.value if isinstance(bound, Const) else None for bound in bounds)
    if lower in {None, 0} and upper is None and step in {None, 1}:
        return axis
    ints = [number if isinstance(number, int) else None for number in (lower, upper, step)]
    stride = times(axis.stride, ints[2] or 1)
    if isinstance(axis.size, int):
        return Axis(len(range(axis.size)[slice(*ints)]), stride)
    return Axis(part_of(axis.size, tuple(ints)), stride)


def times(term: Term | None, size: Size) -> Term | None:
    """Multiply a term by a size."""
    if term is None or size is None:
        return None
    if not term[0]:
        return NOTHING
    if type(size) is int:
        return (term[0] * size, term[1])
    assert isinstance(size, Sym | Part)
    return (term[0], tuple(sorted((*term[1], size), key=hash)))


def dense(sizes: tuple[Size, ...], last: Term | None = _ONE) -> Axes:
    """Return axes of these sizes without gaps, the last one with this stride."""
    axes: list[Axis] = []
    for size in reversed(sizes):
        axes.append(Axis(size, last))
        last = times(last, size)
    return tuple(reversed(axes))


def is_contiguous(axes: Axes) -> Three:
    """Return whether axes with strides leave no gaps and are in their order; None if unknown."""
    expected: Term | None = _ONE
    for size, stride in reversed(axes):
        if size == 1:
            continue
        if stride is None or expected is None:
            return None
        if stride != expected:
            return False
        expected = times(expected, size)
    return True


def merge(axes: Axes) -> tuple[Term | None, Three]:
    """Return the stride of the one axis that these make, and whether they can be made one without a copy."""
    longer = [axis for axis in axes if axis.size != 1]
    if not longer:
        return (axes[-1].stride if axes else _ONE), True
    expected = longer[-1].stride
    for number, (size, stride) in enumerate(reversed(longer)):
        if number and (stride is None or expected is None):
            return None, None
        if stride != expected:
            return None, False
        expected = times(stride, size)
    return longer[-1].stride, True


def reshaped(axes: Axes, sizes: tuple[Size, ...]) -> Axes:
    """Return axes of other sizes on the same memory; without strides where there is no such view."""
    first, last = alike(axes, sizes)
    inner, _ = refit(axes[first : len(axes) - last], sizes[first : len(sizes) - last])
    return (*axes[:first], *inner, *axes[len(axes) - last :])


def alike(axes: Axes, sizes: tuple[Size, ...]) -> tuple[int, int]:
    """Return how many of the first sizes, and then of the last, are those of the axes."""
    most = min(len(axes), len(sizes))
    first = next((i for i in range(most) if sizes[i] is None or axes[i].size != sizes[i]), most)
    rest = most - first
    last = next((i for i in range(rest) if sizes[-1 - i] is None or axes[-1 - i].size != sizes[-1 - i]), rest)
    return first, last


def refit(axes: Axes, sizes: tuple[Size, ...]) -> tuple[Axes, Three]:
    """
    Return axes of other sizes on the same memory, and whether these exist without a copy; None if unknown.

    Axes between which memory jumps stay apart: each run of axes that merge has to be some of the new ones.
    """
    bare = tuple(Axis(size) for size in sizes)
    runs = _runs(axes)
    if runs is None:
        return bare, None
    if len(runs) <= 1:
        return dense(sizes, merge(axes)[0]), True
    if sum(size != 1 for size in sizes) < len(runs):
        return bare, False
    left, found = list(sizes), list[Axis]()
    for run in runs:
        wanted = count(tuple(axis.size for axis in run))
        length = next((n for n in range(1, len(left) + 1) if wanted and count(tuple(left[:n])) == wanted), None)
        if length is None:
            known = all(isinstance(size, int) for size in (*sizes, *(axis.size for axis in axes)))
            return bare, False if known else None
        found += dense(tuple(left[:length]), run[-1].stride)
        del left[:length]
    return (*found, *(Axis(size, _ONE) for size in left)), True


def _runs(axes: Axes) -> list[list[Axis]] | None:
    """Divide axes into the longest runs that merge without a copy; None where a stride is unknown."""
    found: list[list[Axis]] = []
    for axis in axes:
        if axis.size == 1:
            continue
        expected = times(axis.stride, axis.size)
        if found and (expected is None or found[-1][-1].stride is None):
            return None
        if found and found[-1][-1].stride == expected:
            found[-1].append(axis)
        else:
            found.append([axis])
    return found


def order(axes: Axes) -> list[int] | None:
    """Return the axes in the order that these have in memory, by their numbers; None if unknown."""
    found: list[int] = []
    for number, (size, stride) in enumerate(axes):
        if size is None or stride is None:
            return None
        place = next((i for i, one in enumerate(found) if not _divides(stride, axes[one].stride)), len(found))
        if not all(_divides(axes[one].stride, stride) for one in found[place:]):
            return None
        found.insert(place, number)
    return found


def _divides(term: Term | None, other: Term | None) -> bool:
    """Check whether the second term is the first one times something that is not less than 1."""
    if term is None or other is None or not term[0] or other[0] % term[0]:
        return False
    return not Counter(term[1]) - Counter(other[1])


def count(sizes: tuple[Size, ...]) -> Term | None:
    """Return the number of elements."""
    found: Term | None = _ONE
    for size in sizes:
        found = times(found, size)
    return found


def outgrows(operand: tuple[Size, ...], target: tuple[Size, ...]) -> bool:
    """Check whether the result of two shapes certainly is larger than the second."""
    if len(operand) > len(target):
        return True
    pairs = zip(operand[::-1], target[::-1], strict=False)
    return any(had == 1 and isinstance(size, int) and size > 1 for size, had in pairs)


def broadcast(operands: list[Axes | None]) -> Axes | None:
    """Return the axes of operands that are expanded to each other; None where those of one are unknown."""
    sizes: list[Size] = []
    for axes in operands:
        if axes is None:
            return None
        pairs = zip_longest(sizes, [axis.size for axis in reversed(axes)], fillvalue=1)
        sizes = [_common(one, other) for one, other in pairs]
    return tuple(Axis(size) for size in reversed(sizes))


def _common(one: Size, other: Size) -> Size:
    """Return the size of the result of two sizes: symbols that differ may be 1 on either side."""
    if other in {one, 1}:
        return one
    if one == 1 or isinstance(other, int):
        return other
    return one if isinstance(one, int) else None
