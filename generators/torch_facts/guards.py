"""
Finds the guard that tells the calls in which something held from those in which it did not.

Given samples with `mode="reflect"` that kept a tensor and others that did not, the guard is `mode == 'reflect'`. Only
one condition, or two joined by `and` or `or`, is ever looked for: more would be guessing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from generators.torch_facts.probe import Shape

Features = Mapping[str, object]
Case = tuple[Features, bool]


@dataclass(frozen=True, slots=True)
class Condition:
    """One atom of a guard, or its opposite: `kind` is an atom's name, `==`, or empty for the truth of a flag."""

    kind: str
    name: str
    constant: object = None
    negated: bool = False

    def text(self) -> str:
        """Spell the condition as the tables do."""
        match self.kind:
            case "":
                plain = self.name
            case "==":
                plain = f"{self.name} == {self.constant!r}"
            case "ndim":
                plain = f"ndim({self.name}) == {self.constant}"
            case kind:
                plain = f"{kind}({self.name})"
        return f"not {plain}" if self.negated else plain

    def holds(self, features: Features) -> bool:
        """Return whether the condition held in one call."""
        return self._plain(features.get(self.name)) is not self.negated

    def _plain(self, value: object) -> bool:
        match self.kind:
            case "":
                return value is True
            case "==":
                return type(value) is not bool and not isinstance(value, Shape) and value == self.constant
            case "passed":
                return value is not None
            case "tensor":
                return isinstance(value, Shape)
            case "contiguous":
                return isinstance(value, Shape) and value.contiguous
            case "ndim":
                return isinstance(value, Shape) and value.ndim == self.constant
            case kind:
                return isinstance(value, Shape) and value.dtype == kind


def separate(cases: Sequence[Case], names: Sequence[str]) -> str | None:
    """Return the simplest guard over the named arguments that agrees with every case; None when there is none."""
    wanted = [held for _, held in cases]
    every = [features for features, _ in cases]
    answers = [(one.text(), [one.holds(features) for features in every]) for one in _conditions(every, names)]
    for text, found in answers:
        if found == wanted:
            return text
    for (one, left), (two, right) in combinations(answers, 2):
        if [a and b for a, b in zip(left, right, strict=True)] == wanted:
            return f"{one} and {two}"
    for (one, left), (two, right) in combinations(answers, 2):
        if [a or b for a, b in zip(left, right, strict=True)] == wanted:
            return f"({one} or {two})"
    return None


def _conditions(cases: Sequence[Features], names: Sequence[str]) -> Iterator[Condition]:
    for about in (_about_kinds, _about_numbers):
        for name in names:
            for condition in about(name, [features.get(name) for features in cases]):
                yield condition
                yield replace(condition, negated=True)


def _about_kinds(name: str, values: Sequence[object]) -> Iterator[Condition]:
    if any(isinstance(value, Shape) for value in values):
        for kind in ("tensor", "contiguous", "float", "int", "bool"):
            yield Condition(kind, name)
        for rank in sorted({value.ndim for value in values if isinstance(value, Shape)}):
            yield Condition("ndim", name, rank)
        return
    if any(isinstance(value, bool) for value in values):
        yield Condition("", name)
    if None in values:
        yield Condition("passed", name)
    for constant in sorted({value for value in values if isinstance(value, str)}):
        yield Condition("==", name, constant)


def _about_numbers(name: str, values: Sequence[object]) -> Iterator[Condition]:
    # Only 0 and 1 turn something off or on; any other number, and any dimension, is an accident of the samples.
    numbers = {value for value in values if isinstance(value, int | float) and not isinstance(value, bool)}
    for number in (0, 1):
        if number in numbers and not name.startswith("dim"):
            yield Condition("==", name, number)
