"""
Finds the rule by which the shape of a result follows from the arguments: the first that agrees with every call.

    x = torch.rand(2, 3, 4)
    shapes({"input": x, "dim0": 0, "dim1": 2}, (4, 3, 2))    # ["transpose(input, dim0, dim1)", ..., "ranked(input)"]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from keyword import iskeyword
from typing import Any

from inplace_lint.domain.shape import Axes, Axis, Part, Size
from inplace_lint.domain.shape_rules import axes_of
from inplace_lint.domain.values import Const, SliceValue, Value
from inplace_lint.knowledge.shape_fact import parse_shape

MANY = 3  # names of one kind that are tried
_NO_SIZES = frozenset({"dilation", "dtype", "kernel_size", "padding", "stride"})  # where a size equals one, by accident


class Given:
    """The arguments of a real call, as the rules ask for them."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def axes(self, name: str) -> Axes | None:
        """Return the axes of a tensor; none for anything else."""
        value = self._values.get(name)
        return tuple(Axis(int(size)) for size in value.shape) if is_tensor(value) else ()

    def several(self, name: str) -> list[Axes | None]:
        """Return the axes of each tensor in an argument."""
        value = self._values.get(name)
        items = value if isinstance(value, list | tuple) else [value]
        return [Given({"": item}).axes("") for item in items]

    def numbers(self, name: str, *, all_known: bool = True) -> tuple[Size, ...] | None:  # noqa: ARG002 - of the protocol: here all are
        """Return the numbers in an argument; none where it is not given, None for what is no number."""
        value = self._values.get(name)
        items = tuple(value) if isinstance(value, list | tuple) else () if value is None else (value,)
        return items if all(type(item) is int for item in items) else None

    def nested(self, name: str) -> tuple[int, ...] | None:
        """Return the lengths of nested lists: no sample has any."""
        return None if name in self._values else ()

    def flag(self, name: str) -> bool:
        """Return the truth of an argument."""
        return bool(self._values.get(name))

    def value(self, name: str) -> Value:
        """Return an argument."""
        return Const(self._values.get(name))

    def is_row(self, part: Value | None) -> bool:
        """Check whether a part of an index is one whole number."""
        return isinstance(part, Const) and type(part.value) is int

    def takes_one(self, part: SliceValue) -> bool:
        """Check whether a slice takes one element: no sample is indexed by a slice, so that nobody asks."""
        raise NotImplementedError(part)


def is_tensor(value: object) -> bool:
    """Check whether a value is a tensor of either framework."""
    return type(value).__name__ in {"Tensor", "Parameter", "EagerParamBase"}


def shapes(values: Mapping[str, Any], found: Sequence[int]) -> list[str]:
    """List the shapes that predict the sizes of a result, the most telling first."""
    given = Given(values)
    return [text for text in _candidates(values, len(found)) if agrees(axes_of(parse_shape(text), given), found)]


def agrees(axes: Axes | None, found: Sequence[int]) -> bool:
    """Check whether the sizes of a result are as predicted, where they are."""
    if axes is None or len(axes) != len(found):
        return False
    pairs = zip(axes, found, strict=True)
    return all(axis.size is None or isinstance(axis.size, Part) or axis.size == size for axis, size in pairs)


def _candidates(values: Mapping[str, Any], rank: int) -> Iterator[str]:
    values = {name: value for name, value in values.items() if name.isidentifier() and not iskeyword(name)}
    tensors = [name for name, value in values.items() if is_tensor(value)]
    lists = [name for name, v in values.items() if isinstance(v, list | tuple) and v and all(map(is_tensor, v))]
    others = [name for name in values if name not in {*tensors, *lists}]
    dims = [name for name in others if name.startswith(("dim", "axis"))][:MANY]
    # An operand may be a number in some calls.
    operands = [name for name in values if name in tensors or type(values[name]) in {int, float}][:MANY]
    numbers = [name for name in others if name not in {*dims, *_NO_SIZES} and _holds_numbers(values[name])]
    for name in tensors[:MANY]:
        yield f"like({name})"
    together = [operands[:count] for count in range(2, len(operands) + 1)] + [*combinations(operands, 2)]
    telling = [names for names in together if not {*tensors}.isdisjoint(names)]  # numbers alone agree by accident
    yield from (f"broadcast({', '.join(names)})" for names in telling)
    if rank == 0:
        yield "axes(0)"
    yield from (f"matmul({one}, {two})" for one, two in permutations(tensors[:MANY], 2))
    for name in tensors[:1]:
        yield from _of_one(name, dims, [other for other in others if other.startswith("keep")], numbers)
    for name in lists:
        yield from (f"{rule}({name}, {dim})" for dim in dims for rule in ("cat", "stack"))
    yield from (f"sizes({name})" for name in numbers)
    for name in tensors[:1]:
        yield from (f"cut({name}, {dim})" for dim in dims if type(values[dim]) is int)
        yield from (f"loose({name}, {dim})" for dim in dims)
    yield from (f"ranked({name})" for name in tensors[:MANY])
    yield from (f"grow({name})" for name in tensors[:1])
    yield f"axes({rank})"


def _holds_numbers(value: object) -> bool:
    return type(value) is int or (isinstance(value, list | tuple) and all(type(item) is int for item in value))


def _of_one(name: str, dims: Sequence[str], keep: Sequence[str], numbers: Sequence[str]) -> Iterator[str]:
    yield from (f"squeeze({name}, {dim})" for dim in dims)
    yield from (f"reduce({name}, {dim}, {flag})" for dim in dims for flag in keep)
    yield from (f"{rule}({name}, {dim})" for dim in dims for rule in ("reduce", "drop", "insert", "permute"))
    yield from (f"transpose({name}, {one}, {two})" for one, two in permutations(dims, 2))
    yield from (f"transpose({name}, -2, -1)", f"reverse({name})", f"squeeze({name})", f"flatten({name})")
    yield from (f"{rule}({name}, {number})" for number in numbers for rule in ("last", "grow", "expand", "reshape"))
    yield from (f"flatten({name}, {one}, {two})" for one, two in permutations(numbers, 2))


def of_state(values: Mapping[str, Any], found: Sequence[int]) -> list[str]:
    """List the shapes that predict the sizes of a parameter of a module from the arguments of its constructor."""
    numbers = [name for name, value in values.items() if type(value) is int or isinstance(value, tuple | list)]
    every = [f"sizes({', '.join(names)})" for count in (1, 2) for names in permutations(numbers, count)]
    given = Given(values)
    good = [text for text in every if agrees(axes_of(parse_shape(text), given), found)]
    return [*good, f"axes({len(found)})"]


def common_state(told: Sequence[Sequence[str]]) -> str:
    """Return the shape of a parameter that all constructions agree with, without sizes that may be those of two."""
    good = [text for text in told[0] if all(text in texts for texts in told)]
    return (good[0] if len(good) == 2 else good[-1]) if good else ""  # noqa: PLR2004  # the last one has no sizes


def common(told: Sequence[tuple[Sequence[str], Sequence[int], int]]) -> str:
    """
    Return the first shape that all calls agree with; none where too few tell.

    Of each call: the shapes that predict its result, the size of the result, the number of axes of the first tensor.
    """
    every = [set(texts) for texts, _, _ in told]
    alike = len({tuple(size) for _, size, _ in told}) == 1
    for text in told[0][0] if told else ():
        rule = text.partition("(")[0]
        alone = not any(other.startswith("broadcast") for other in told[0][0])  # then a square shows as much
        if not all(text in texts for texts in every) or (alike and not _tells(rule, told[0][1], alone=alone)):
            continue
        if rule != "axes" or text == "axes(0)" or len({rank for _, _, rank in told}) != 1:
            return text
    return ""


def _tells(rule: str, size: Sequence[int], *, alone: bool) -> bool:
    """Check whether calls with results of one size are enough: a size that is no accident, or of the only tensor."""
    plain = rule in {"like", "broadcast", "sizes", "last", "grow"}
    return not size or (plain and (len(size) > 2 or (len(size) == 2 and (alone or size[0] != size[1]))))  # noqa: PLR2004
