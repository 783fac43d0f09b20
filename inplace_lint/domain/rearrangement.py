"""
Patterns of einops: which axes a rearranged tensor has, and whether it is a view.

    rearrange(x, "b n (h d) -> b h n d", h=8)     # splits and turns axes: a view, whatever the strides of x are
    rearrange(x, "b h n d -> b n (h d)")          # makes one axis of two: a view only where their strides fit
    repeat(x, "b d -> b n d", n=4)                # adds an axis that is expanded: a view, too
    repeat(x, "b d -> b (n d)", n=4)              # makes one axis of it and of another: a copy
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from inplace_lint.domain import shape
from inplace_lint.domain.shape import NOTHING, Axes, Axis, Part, Size
from inplace_lint.domain.values import Const, Three, Value

Groups = tuple[tuple[str, ...], ...]  # the names that each axis is made of; none for one of size 1
_DOTS = "..."
_ONE = ""  # beside `...` in brackets, which are one axis: `(...)` is no `...`
_PART = re.compile(r"\.\.\.|[^\s()]+|[()]")


def groups(pattern: Value | None) -> tuple[Groups, Groups] | None:
    """Return both sides of a pattern; None where it is unknown, or where a name stands on the left side alone."""
    text = pattern.value if isinstance(pattern, Const) else None
    return _sides(text) if isinstance(text, str) else None


@cache
def _sides(text: str) -> tuple[Groups, Groups] | None:
    left, arrow, right = text.replace("…", _DOTS).partition("->")
    sides = _side(left), _side(right)
    return sides if arrow and set(_names(sides[0])) <= set(_names(sides[1])) else None


def _side(text: str) -> Groups:
    found: list[tuple[str, ...]] = []
    inner: list[str] | None = None
    for part in _PART.findall(text):
        names = () if part == "1" else (part,)
        if part == "(":
            inner = []
        elif part == ")":
            found.append((_DOTS, _ONE) if inner == [_DOTS] else tuple(inner or ()))
            inner = None
        elif inner is None:
            found.append(names)
        else:
            inner.extend(names)
    return tuple(found)


def _names(side: Groups) -> list[str]:
    return [name for group in side for name in group if name != _ONE]


def turns(pattern: Value | None) -> Three:
    """Return whether a pattern puts axes into another order; None if unknown."""
    sides = groups(pattern)
    return None if sides is None else _names(sides[0]) != _names(sides[1])


def permutes(pattern: Value | None) -> Three:
    """Return whether a pattern does nothing but put whole axes into another order; None if unknown."""
    sides = groups(pattern)
    return None if sides is None else sorted(sides[0]) == sorted(sides[1])


def added(pattern: Value | None) -> list[int]:
    """Return the axes of size 1 that a pattern adds, those after `...` counted from the end; none if it does more."""
    sides = groups(pattern)
    if sides is None or [group for group in sides[1] if group] != list(sides[0]):
        return []
    right = sides[1]
    dots = right.index((_DOTS,)) if (_DOTS,) in right else len(right)
    return [at if at < dots else at - len(right) for at, group in enumerate(right) if not group]


def repeated(pattern: Value | None, length: Callable[[str], Size]) -> list[int] | None:
    """Return the axes that a pattern adds with a size other than 1; None if unknown."""
    sides = groups(pattern)
    if sides is None:
        return None
    new = _new(sides, length)
    longer = {name for name, (axis,) in new.items() if axis.size != 1}
    return [at for at, group in enumerate(sides[1]) if longer.intersection(group) and new.keys() >= set(group)]


def _new(sides: tuple[Groups, Groups], length: Callable[[str], Size]) -> dict[str, Axes]:
    """Return the expanded axes that the names of the right side alone stand for."""
    names = set(_names(sides[1])) - set(_names(sides[0]))
    return {name: (Axis(length(name) or Part(None, (name,)), NOTHING),) for name in names}


def views(pattern: Value | None, axes: Axes | None, length: Callable[[str], Size]) -> Three:
    """Return whether a tensor with these axes can be rearranged without a copy; None if unknown."""
    sides = groups(pattern)
    if sides is None:
        return None
    merged = [group for group in sides[1] if len(group) > 1]
    if not merged:
        return True
    named = _named(sides[0], axes, length)
    new = _new(sides, length)
    if named is None:  # axes that are not neighbours are no axis of a dense tensor
        order = _names(sides[0])
        old = [tuple(one for one in _names((group,)) if one not in new or new[one][0].size != 1) for group in merged]
        return None if all(_are_neighbours(group, order) for group in old if len(group) > 1) else False
    answers = [shape.merge(_of_group(group, named | new))[1] for group in merged]
    return False if False in answers else None if None in answers else True


def _are_neighbours(group: tuple[str, ...], order: list[str]) -> bool:
    """Check whether names stand side by side, or none of them on this side at all."""
    known = [name for name in group if name in order]
    return not known or list(group) == order[order.index(known[0]) :][: len(group)]


def rearranged(pattern: Value | None, axes: Axes | None, length: Callable[[str], Size]) -> Axes | None:
    """Return the axes of a rearranged tensor; None where even their number is unknown."""
    sides = groups(pattern)
    named = None if sides is None else _named(sides[0], axes, length)
    if sides is None or named is None:
        return None if sides is None or (_DOTS,) in sides[1] else (Axis(None),) * len(sides[1])
    found: list[Axis] = []
    for group in sides[1]:
        inner = _of_group(group, named | _new(sides, length))
        found.extend(inner if group == (_DOTS,) or len(inner) == 1 else (_merged(inner),))
    return tuple(found)


def _of_group(group: tuple[str, ...], named: dict[str, Axes]) -> Axes:
    return tuple(axis for name in _names((group,)) for axis in named[name])


def _merged(axes: Axes) -> Axis:
    number = shape.count(tuple(axis.size for axis in axes))
    return Axis(number[0] if number is not None and not number[1] else None, shape.merge(axes)[0])


def _named(side: Groups, axes: Axes | None, length: Callable[[str], Size]) -> dict[str, Axes] | None:
    """Return the axes that each name of the left side stands for."""
    if axes is None:
        return None
    plain = (_DOTS,) not in side
    if plain and len(axes) != len(side):
        if not axes or axes[-1].stride is None:
            return None
        axes = shape.dense(tuple(Part(None, (i,)) for i in range(len(side))))  # contiguous, of axes that were unknown
    count = len(axes) - len(side) + 1
    found: dict[str, Axes] = {}
    at = 0
    for group in side:
        taken = axes[at : at + count] if group == (_DOTS,) else axes[at : at + 1]
        at += len(taken)
        if group == (_DOTS,) or len(group) == 1:
            found[group[0]] = taken
        elif taken:
            found.update(_split(group, taken[0], length))
    return found if found.keys() == set(_names(side)) and at == len(axes) else None


def _split(group: tuple[str, ...], axis: Axis, length: Callable[[str], Size]) -> dict[str, Axes]:
    """Return the axes that one axis is divided into."""
    sizes = [length(name) or Part(axis.size, (name,)) for name in group]
    return {name: (part,) for name, part in zip(group, shape.dense(tuple(sizes), axis.stride), strict=True)}


def einsum(equation: Value | None) -> Axes | None:
    """Return an axis for each letter of the result; None where it is not written out."""
    inputs, arrow, result = _equation(equation)
    return (Axis(None),) * len(result) if arrow and "." not in inputs + result else None


def _equation(equation: Value | None) -> tuple[str, str, str]:
    text = equation.value if isinstance(equation, Const) else None
    return text.replace(" ", "").partition("->") if isinstance(text, str) else ("", "", "")


def sums(equation: Value | None) -> Three:
    """Return whether an equation of `einsum` sums over an axis: a letter that the result lacks; None if unknown."""
    inputs, arrow, result = _equation(equation)
    return None if not arrow else not set(inputs) - {","} <= set(result)
