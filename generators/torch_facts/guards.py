"""
Finds the guard that tells the calls in which something held from those in which it did not.

Given `gelu`-like samples with `approximate="tanh"` that kept a tensor and others that did not, the guard is
`approximate == 'tanh'`. Only one condition, or two joined by `and`, is ever looked for: more would be guessing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from generators.torch_facts.probe import Shape

Features = Mapping[str, object]
Case = tuple[Features, bool]


def separate(cases: Sequence[Case], names: Sequence[str]) -> str | None:
    """Give the simplest guard over the named arguments that agrees with every case; None when there is none."""
    wanted = [held for _, held in cases]
    tests = list(_tests([features for features, _ in cases], names))
    answers = {text: [test(features) for features, _ in cases] for text, test in tests}
    for text, found in answers.items():
        if found == wanted:
            return text
    for (one, left), (two, right) in combinations(answers.items(), 2):
        if [a and b for a, b in zip(left, right, strict=True)] == wanted:
            return f"{one} and {two}"
    for (one, left), (two, right) in combinations(answers.items(), 2):
        if [a or b for a, b in zip(left, right, strict=True)] == wanted:
            return f"({one} or {two})"
    return None


def _tests(cases: list[Features], names: Sequence[str]) -> Iterator[tuple[str, Callable[[Features], bool]]]:
    for tests in (_about, _about_numbers):
        for name in names:
            for text, test in tests(name, [features.get(name) for features in cases]):
                yield text, lambda features, n=name, t=test: t(features.get(n))
                yield f"not {text}", lambda features, n=name, t=test: not t(features.get(n))


def _about(name: str, values: list[object]) -> Iterator[tuple[str, Callable[[object], bool]]]:
    if any(isinstance(value, Shape) for value in values):
        yield f"tensor({name})", lambda value: isinstance(value, Shape)
        yield f"contiguous({name})", lambda value: isinstance(value, Shape) and value.contiguous
        for kind in ("float", "int", "bool"):
            yield f"{kind}({name})", lambda value, k=kind: isinstance(value, Shape) and value.dtype == k
        for rank in sorted({value.ndim for value in values if isinstance(value, Shape)}):
            yield f"ndim({name}) == {rank}", lambda value, r=rank: isinstance(value, Shape) and value.ndim == r
        return
    if any(isinstance(value, bool) for value in values):
        yield name, lambda value: value is True
    if None in values:
        yield f"passed({name})", lambda value: value is not None
    for constant in sorted({value for value in values if isinstance(value, str)}):
        yield f"{name} == {constant!r}", lambda value, c=constant: value == c


def _about_numbers(name: str, values: list[object]) -> Iterator[tuple[str, Callable[[object], bool]]]:
    # Only 0 and 1 turn something off or on; any other number, and any dimension, is an accident of the samples.
    if name.startswith("dim"):
        return
    for number in (0, 1):
        if any(_is_number(value) and value == number for value in values):
            yield f"{name} == {number}", lambda value, c=number: _is_number(value) and value == c


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
