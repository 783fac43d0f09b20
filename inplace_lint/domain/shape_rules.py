"""
The rules by which facts give the axes of a result.

    "shape": "transpose(input, dim0, dim1)"     # of `x.transpose(1, 2)`: the axes of x, two of them exchanged

A rule works on symbolic arguments in the analysis, and on those of a real call in the generators, which choose for an
op the rule that agrees with all its samples. Of a view, it gives the strides as well.
"""

from __future__ import annotations

from collections.abc import Callable

from inplace_lint.domain import rearrangement, shape
from inplace_lint.domain.shape import Axes, Axis, Operands, Size, part_of
from inplace_lint.domain.values import NONE, Const, SliceValue, Three, Tuple, Value
from inplace_lint.knowledge.shape_fact import ShapeFact
from inplace_lint.knowledge.words import ShapeRule

_NEW = Axis(1)


def axes_of(fact: ShapeFact, operands: Operands) -> Axes | None:
    """Return the axes of a result; None where they are unknown."""
    rule, names = fact.rule, fact.args
    if rule in _OF_ARGUMENTS:
        return _OF_ARGUMENTS[rule](operands, names)
    if rule is ShapeRule.REARRANGE:
        return rearrangement.rearranged(*_pattern(fact, operands))
    if rule in {ShapeRule.STACK, ShapeRule.CAT}:
        return _joined(operands.several(str(names[0])), rule, operands, names[1:])
    axes = operands.axes(str(names[0]))
    if axes is None and rule is ShapeRule.RESHAPE:
        sizes = operands.numbers(str(names[1]))
        return None if sizes is None else tuple(Axis(None if size == -1 else size) for size in sizes)
    if axes is None and rule is ShapeRule.REDUCE:
        return () if _reduces_all(operands, fact.args[1:]) else None
    return None if axes is None else _RULES[rule](axes, operands, names[1:])


def _joined(every: list[Axes | None], rule: ShapeRule, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    """Return the axes of several tensors side by side; along the one that they make its size, where that is known."""
    known = [one for one in every if one is not None]
    some = [one for one in known if [axis.size for axis in one] != [0]]  # such fit all
    axes = _RULES[rule](some[0], operands, names) if some else None
    place = _dim(operands, names[0], len(axes)) if axes and len(known) == len(every) else None
    if axes is None or place is None:
        return axes
    if rule is ShapeRule.STACK:
        return (*axes[:place], Axis(len(every)), *axes[place + 1 :])
    lengths = [one[place].size for one in some if place < len(one)]
    whole = [length for length in lengths if isinstance(length, int)]
    return (*axes[:place], Axis(sum(whole)), *axes[place + 1 :]) if len(whole) == len(some) else axes


def parts(fact: ShapeFact, operands: Operands) -> int | None:
    """Return how many parts of a size, or of a number, an axis is cut into; None where that is not known."""
    if fact.rule not in {ShapeRule.CUT, ShapeRule.CHUNK} or len(fact.args) < 3:  # noqa: PLR2004
        return None
    number, dim = fact.args[1:] if fact.rule is ShapeRule.CHUNK else fact.args[:0:-1]
    axes, given = operands.axes(str(fact.args[0])), operands.numbers(str(number))
    place = None if axes is None else _dim(operands, dim, len(axes))
    whole = axes[place].size if axes is not None and place is not None else None
    one = given[0] if given is not None and len(given) == 1 else None
    if not isinstance(whole, int) or not isinstance(one, int) or whole < 1 or one < 1:
        return None
    return -(-whole // (-(-whole // one) if fact.rule is ShapeRule.CHUNK else one))


def dims(operands: Operands, name: str | int, rank: int) -> list[int] | None:
    """Return the axes that an argument names, counted from the first; None where they are unknown."""
    given = (name,) if isinstance(name, int) else operands.numbers(name)
    if given is None or not all(isinstance(one, int) and -rank <= one < rank for one in given):
        return None
    return [one % rank for one in given if isinstance(one, int)]


def _dim(operands: Operands, name: str | int, rank: int) -> int | None:
    found = dims(operands, name, rank)
    return found[0] if found and len(found) == 1 else None


def _sizes(operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    found = [(name,) if isinstance(name, int) else operands.numbers(name) for name in names]
    return None if None in found else tuple(Axis(size) for sizes in found for size in sizes or ())


def _nested(operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    lengths = operands.nested(str(names[0]))
    return None if lengths is None else tuple(Axis(length) for length in lengths)


def _grid(operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    """Return the axes of each grid over vectors: the lengths of these, the first two exchanged by `"xy"`."""
    vectors, indexing = map(str, names)
    found = operands.several(vectors)
    sizes = [axes[0].size if axes else 1 for axes in found if axes is not None]
    if len(sizes) < len(found):
        return None
    return tuple([Axis(sizes[i]) for i in _turned(operands, indexing, len(sizes))])


def along(fact: ShapeFact, operands: Operands, place: int, size: Size) -> tuple[Size, ...]:
    """Return the sizes of a vector that is laid along its axis of a grid, as one that is then expanded."""
    order = _turned(operands, str(fact.args[1]), len(operands.several(str(fact.args[0]))))
    return tuple([size if i == place else 1 for i in order])


def _turned(operands: Operands, indexing: str, count: int) -> list[int]:
    plain = operands.value(indexing) in {None, NONE, Const("ij")}
    return [*range(count)] if plain else [1, 0, *range(2, count)][:count]


def _like(axes: Axes, _: Operands, __: tuple[str | int, ...]) -> Axes:
    return axes


def _ranked(axes: Axes, _: Operands, __: tuple[str | int, ...]) -> Axes:
    return (Axis(None),) * len(axes)


def _reduce(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    gone = dims(operands, names[0], len(axes)) if names and axes else []
    if gone is None or (names and not _is_known(operands, names[0])):
        return None
    gone = gone or list(range(len(axes)))
    kept = operands.flag(str(names[1])) if len(names) > 1 else False
    if kept is None:
        return None
    return tuple(_NEW if i in gone else axis for i, axis in enumerate(axes) if kept or i not in gone)


def _reduces_all(operands: Operands, names: tuple[str | int, ...]) -> bool:
    """Check whether a tensor is reduced to one number, whatever its axes are."""
    every = not names or (isinstance(names[0], str) and operands.numbers(names[0]) == ())
    return every and (len(names) < 2 or operands.flag(str(names[1])) is False)  # noqa: PLR2004 - dim, keepdim


def _is_known(operands: Operands, name: str | int) -> bool:
    return isinstance(name, int) or operands.numbers(name) is not None


def _permute(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    order = dims(operands, names[0], len(axes))
    if order is None:
        return (Axis(None),) * len(axes)
    return tuple(axes[i] for i in order) if sorted(order) == list(range(len(axes))) else None


def _transpose(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes:
    one, other = (_dim(operands, name, len(axes)) for name in names)
    if one is None or other is None:
        return (Axis(None),) * len(axes)
    turned = list(axes)
    turned[one], turned[other] = axes[other], axes[one]
    return tuple(turned)


def _reverse(axes: Axes, _: Operands, __: tuple[str | int, ...]) -> Axes:
    return axes[::-1]


def _drop(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes:
    place = _dim(operands, names[0], len(axes))
    return (Axis(None),) * (len(axes) - 1) if place is None else axes[:place] + axes[place + 1 :]


def _insert(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    place = _dim(operands, names[0], len(axes) + 1)
    given = () if isinstance(names[0], int) else operands.numbers(names[0])
    if given is not None and len(given) > 1:
        return None  # of Paddle, several at once
    return (Axis(None),) * (len(axes) + 1) if place is None else (*axes[:place], _NEW, *axes[place:])


def _squeeze(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    places = dims(operands, names[0], len(axes)) if names and axes else []
    if places is None or (names and not _is_known(operands, names[0])):
        return None
    if not places and len(names) == 1 and operands.value(str(names[0])) not in (None, NONE):
        return axes  # an empty list; with a second name, it stands for all
    places = places or list(range(len(axes)))
    if not all(isinstance(axes[place].size, int) for place in places):
        return None
    return tuple(axis for i, axis in enumerate(axes) if i not in places or axis.size != 1)


def _cut(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes:
    """Take a part of one axis; a further argument may give its size, where that leaves no rest."""
    given = operands.numbers(str(names[1])) if len(names) > 1 else ()
    if given is not None and len(given) > 1:  # of each part its own
        return _loose(axes, operands, names[:1])
    place = _dim(operands, names[0], len(axes))
    if place is not None and given == (1,):
        return (*axes[:place], Axis(1, axes[place].stride), *axes[place + 1 :])
    return _with_part(axes, place, given, lambda _, size: size)


def _with_part(axes: Axes, place: int | None, given: tuple[Size, ...] | None, one: Callable[[int, int], int]) -> Axes:
    """Take one of equal parts of an axis: its size follows from that of the axis and a given number."""
    if place is None:
        return (Axis(None),) * len(axes)
    whole, number = axes[place].size, given[0] if given else None
    if isinstance(whole, int) and isinstance(number, int) and number > 0 and whole % number == 0:
        size: Size = one(whole, number)
    else:
        size = part_of(whole, (number,))
    return (*axes[:place], Axis(size, axes[place].stride), *axes[place + 1 :])


def _chunk(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes:
    """Take one of a number of equal parts of an axis."""
    place = _dim(operands, names[1], len(axes))
    return _with_part(axes, place, operands.numbers(str(names[0])), lambda whole, number: whole // number)


def _loose(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes:
    """Replace the size of one axis."""
    place = _dim(operands, names[0], len(axes))
    return tuple(Axis(None) if place in {None, i} else axis for i, axis in enumerate(axes))


def _stack(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    found = _insert(axes, operands, names)
    return None if found is None else _loose(found, operands, names)


def _last(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes:
    """Replace the size of the last axis."""
    found = operands.numbers(str(names[0]))
    return (*axes[:-1], Axis(found[0] if found else None))


def _grow(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes:
    """Add a last axis."""
    found = operands.numbers(str(names[0])) if names else None
    return (*axes, Axis(found[0] if found else None))


def _expand(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    wanted = operands.numbers(str(names[0]), all_known=False)  # expanded is also what has more axes than are known
    if wanted is None or len(wanted) < len(axes):
        return None
    old = [axis.size for axis in axes]
    sizes = wanted[: len(wanted) - len(axes)] + tuple(
        had if new == -1 else new for had, new in zip(old, wanted[len(wanted) - len(axes) :], strict=True)
    )
    return tuple(Axis(size) for size in sizes)


def _matmul(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    other = operands.axes(str(names[0]))
    if other is None or not axes or not other:
        return None
    outer = shape.broadcast([axes[:-2], other[:-2]])
    if outer is None:
        return None
    rows = axes[-2:-1]
    return (*outer, *rows, *(other[-1:] if len(other) > 1 else ()))


def _flatten(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    if not axes:
        return (_NEW,)
    first, last = (_dim(operands, name, len(axes)) for name in names) if names else (0, len(axes) - 1)
    if first is None or last is None or first > last:
        return None
    inner = axes[first : last + 1]
    size = inner[0].size if len(inner) == 1 else _number(tuple(axis.size for axis in inner))
    return (*axes[:first], Axis(size, shape.merge(inner)[0]), *axes[last + 1 :])


def _number(sizes: tuple[Size, ...]) -> int | None:
    found = shape.count(sizes)
    return found[0] if found is not None and not found[1] else None


def _unflatten(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    place, sizes = _dim(operands, names[0], len(axes)), operands.numbers(str(names[1]))
    if place is None or not sizes:
        return None
    inner = shape.dense(_resolved(sizes, (axes[place].size,)), axes[place].stride)
    return (*axes[:place], *inner, *axes[place + 1 :])


def _resolved(sizes: tuple[Size, ...], old: tuple[Size, ...]) -> tuple[Size, ...]:
    """Return sizes with the -1 among them replaced by what is left."""
    if -1 not in sizes:
        return sizes
    others = tuple(size for size in sizes if size != -1)
    whole, rest = _number(old), _number(others)
    left: Size = whole // rest if whole is not None and rest else None
    return tuple(left if size == -1 else size for size in sizes)


def views(fact: ShapeFact, operands: Operands) -> Three:
    """Return whether a tensor can get the shape of a fact without a copy; None if unknown."""
    if fact.rule is ShapeRule.REARRANGE:
        return rearrangement.views(*_pattern(fact, operands))
    axes, names = operands.axes(str(fact.args[0])), fact.args[1:]
    if axes is None:
        return None
    if fact.rule is ShapeRule.FLATTEN:
        first, last = (_dim(operands, name, len(axes)) for name in names) if names else (0, len(axes) - 1)
        return None if first is None or last is None else shape.merge(axes[first : last + 1])[1]
    sizes = operands.numbers(str(names[0])) if fact.rule is ShapeRule.RESHAPE else None
    if sizes is None:
        return None
    sizes = _resolved(sizes, tuple(axis.size for axis in axes))
    first, last = shape.alike(axes, sizes)
    return shape.refit(axes[first : len(axes) - last], sizes[first : len(sizes) - last])[1]


def repeated(fact: ShapeFact, operands: Operands) -> list[int]:
    """Return the axes that a pattern adds, and along which elements repeat."""
    pattern, _, length = _pattern(fact, operands)
    return rearrangement.repeated(pattern, length) or []


def _pattern(fact: ShapeFact, operands: Operands) -> tuple[Value | None, Axes | None, Callable[[str], Size]]:
    """Return what rearranging asks for: the pattern, the axes, and the lengths of names that are given."""
    source, pattern = map(str, fact.args)
    return operands.value(pattern), operands.axes(source), lambda name: next(iter(operands.numbers(name) or ()), None)


def _reshape(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    sizes = operands.numbers(str(names[0]))
    if sizes is None:
        return None
    return shape.reshaped(axes, _resolved(sizes, tuple(axis.size for axis in axes)))


def _index(axes: Axes, operands: Operands, names: tuple[str | int, ...]) -> Axes | None:
    index = operands.value(str(names[0]))
    parts = list(index.items) if isinstance(index, Tuple) and index.exact else [index]
    taken = sum(part is not None and part != NONE and part != Const(...) for part in parts)
    if taken > len(axes):
        return None
    if Const(...) not in parts:
        parts.append(Const(...))
    found: list[Axis] = []
    place = 0
    for part in parts:
        if part == Const(...):
            skipped = len(axes) - taken
            found += axes[place : place + skipped]
            place += skipped
        elif part == NONE:
            found.append(_NEW)
        elif isinstance(part, SliceValue):
            found.append(shape.sliced(axes[place], part, one=operands.takes_one(part)))
            place += 1
        elif operands.is_row(part):
            place += 1
        else:
            return None
    return tuple(found)


_RULES: dict[ShapeRule, Callable[[Axes, Operands, tuple[str | int, ...]], Axes | None]] = {
    ShapeRule.LIKE: _like,
    ShapeRule.RANKED: _ranked,
    ShapeRule.REDUCE: _reduce,
    ShapeRule.PERMUTE: _permute,
    ShapeRule.TRANSPOSE: _transpose,
    ShapeRule.REVERSE: _reverse,
    ShapeRule.DROP: _drop,
    ShapeRule.INSERT: _insert,
    ShapeRule.SQUEEZE: _squeeze,
    ShapeRule.CUT: _cut,
    ShapeRule.CHUNK: _chunk,
    ShapeRule.LOOSE: _loose,
    ShapeRule.CAT: _loose,
    ShapeRule.STACK: _stack,
    ShapeRule.LAST: _last,
    ShapeRule.GROW: _grow,
    ShapeRule.EXPAND: _expand,
    ShapeRule.MATMUL: _matmul,
    ShapeRule.FLATTEN: _flatten,
    ShapeRule.UNFLATTEN: _unflatten,
    ShapeRule.RESHAPE: _reshape,
    ShapeRule.INDEX: _index,
}
_OF_ARGUMENTS: dict[ShapeRule, Callable[[Operands, tuple[str | int, ...]], Axes | None]] = {
    ShapeRule.AXES: lambda _, names: (Axis(None),) * int(names[0]),
    ShapeRule.BROADCAST: lambda operands, names: shape.broadcast(
        [axes for name in names for axes in operands.several(str(name))]
    ),
    ShapeRule.SIZES: _sizes,
    ShapeRule.NESTED: _nested,
    ShapeRule.EINSUM: lambda operands, names: rearrangement.einsum(operands.value(str(names[0]))),
    ShapeRule.GRID: _grid,
}
