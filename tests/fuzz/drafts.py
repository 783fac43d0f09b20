"""
What a random program is written with: names in scope whose shapes are known, and expressions over them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fuzz.dialects import Dialect, Reshaping, Shape

SQUARE = (4, 4)
_LEAF_WRITES = 0.04


@dataclass(slots=True, eq=False)
class Tensor:
    """What the writer knows of one tensor object; all its names share it."""

    shape: Shape
    leaf: bool = False
    kind: str = "float"


@dataclass(slots=True)
class Scope:
    """Names that can be read, and whether shapes may change here (not in what runs more than once)."""

    tensors: dict[str, Tensor] = field(default_factory=dict)
    lists: dict[str, list[Tensor]] = field(default_factory=dict)
    helpers: dict[str, tuple[Shape, ...]] = field(default_factory=dict)
    held: dict[str, Tensor] = field(default_factory=dict)  # items of dicts and attributes, as they are written
    dicts: list[str] = field(default_factory=list)
    bends: bool = True


class Draft:
    """The lines of a program under way, and the tensors that it may mention at this point."""

    def __init__(self, words: Dialect, chance: random.Random) -> None:
        self.words = words
        self.chance = chance
        self.lines: list[str] = []
        self.above: list[str] = []
        self.depth = 0  # of indentation
        self.nested = 0  # in blocks, functions and classes
        self.scope = Scope()
        self.leaves: list[str] = []
        self.count = 0
        self.layered = False
        self.enclosed = False  # in a function: names of the program are not those of its module
        self.runs = True  # what is written now: a class that nothing calls is judged by what it would do

    # Lines and names

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def _name(self, stem: str, value: str, tensor: Tensor) -> str:
        name = self._fresh(stem)
        self._line(f"{name} = {value}")
        self.scope.tensors[name] = tensor
        return name

    @contextmanager
    def _block(self, head: str, *, bends: bool = True, keeps: bool = False) -> Iterator[None]:
        """Write a block; names that it makes are forgotten after it unless it `keeps` them."""
        self._line(head)
        outer, first = self.scope, len(self.lines)
        self.depth, self.nested = self.depth + 1, self.nested + 1
        if not keeps:
            lists = {name: list(items) for name, items in outer.lists.items()}
            held, bends = dict(outer.held), outer.bends and bends
            self.scope = Scope(dict(outer.tensors), lists, dict(outer.helpers), held, list(outer.dicts), bends)
        yield
        if len(self.lines) == first:
            self._line("pass")
        self.scope = outer
        self.depth, self.nested = self.depth - 1, self.nested - 1

    def _statement(self) -> None:
        raise NotImplementedError  # of the writer that knows them all

    def _statements(self, most: int) -> None:
        for _ in range(self.chance.randint(1, most)):
            self._statement()

    # Picking what is at hand

    def _among(self, fits: Callable[[Shape], bool], *, kind: str = "float") -> list[str]:
        names = [n for n, t in self.scope.tensors.items() if t.kind == kind and fits(t.shape)]
        for name, items in self.scope.lists.items():
            names += [f"{name}[{i}]" for i, t in enumerate(items) if t.kind == kind and fits(t.shape)]
        return names + [path for path, t in self.scope.held.items() if t.kind == kind and fits(t.shape)]

    def _tensor(self, path: str) -> Tensor:
        if path in self.scope.tensors:
            return self.scope.tensors[path]
        if path in self.scope.held:
            return self.scope.held[path]
        name, _, place = path.partition("[")
        return self.scope.lists[name][int(place[:-1])]

    def _pick(self, shape: Shape) -> str:
        """Give a tensor of a shape, a new one if there is none."""
        names = self._among(lambda other: other == shape)
        if not names:
            return self._plain(shape)
        return self.chance.choice(names[-6:])

    def _target(self, fits: Callable[[Shape], bool] = lambda _: True) -> str | None:
        """Give a tensor to write, seldom one that must not be written."""
        names = self._among(fits)
        if self.chance.random() > _LEAF_WRITES:
            names = [name for name in names if not self._tensor(name).leaf]
        return self.chance.choice(names[-8:]) if names else None

    def _operand(self, shape: Shape) -> str:
        """Give what broadcasts to a shape."""
        names = [n for n in self._among(lambda other: not other or other == shape[len(shape) - len(other) :]) if n]
        if not names:
            return self._pick(shape)
        name = self.chance.choice(names[-6:])
        return name if self.chance.random() < 0.7 else f"({self._same(name)})"

    def _weight(self) -> str:
        return self._pick(SQUARE)

    def _fill(self, text: str, path: str) -> str:
        shape = self._tensor(path).shape if path else SQUARE
        if "{i}" in text:
            text = text.replace("{i}", self._other("index", "i"))
        if "{m}" in text:
            text = text.replace("{m}", self._other("mask", "m"))
        if "{w}" in text:
            text = text.replace("{w}", self._weight())
        if "{y}" in text:
            text = text.replace("{y}", self._operand(shape))
        return text.replace("{sizes}", sizes_of(shape)).replace("{x}", path)

    def _other(self, kind: str, stem: str) -> str:
        names = self._among(lambda _: True, kind=kind)
        if names and self.chance.random() < 0.8:
            return self.chance.choice(names)
        text = self.words.mask.replace("{x}", self._pick(SQUARE)) if kind == "mask" else self.words.index
        return self._name(stem, text, Tensor(SQUARE if kind == "mask" else (2,), kind=kind))

    # Expressions

    def _same(self, path: str) -> str:
        """Give an op on a tensor whose result has the same shape."""
        shape = self._tensor(path).shape
        kinds = [self.words.same, self.words.same, self.words.pair]
        if shape == SQUARE:
            kinds.append(self.words.square)
        return self._fill(self.chance.choice(self.chance.choice(kinds)), path)

    def _expression(self, path: str, deep: int) -> str:
        text = self._same(path)
        if deep > 0 and self.chance.random() < 0.3:
            text = self.chance.choice(self.words.same).replace("{x}", f"({text})").replace("{y}", path)
        return text

    def _reshaped(self, choices: tuple[Reshaping, ...]) -> tuple[str, Shape]:
        path = self._any()
        shape = self._tensor(path).shape
        entry = self.chance.choice([entry for entry in choices if entry.fits(shape)])
        return self._fill(entry.text, path), entry.leads_to(shape)

    def _any(self) -> str:
        return self.chance.choice(self._among(lambda _: True)[-8:])

    def _leaf(self, shape: Shape) -> str:
        text = self.chance.choice(self.words.leaf).replace("{sizes}", sizes_of(shape))
        name = self._name("x", text, Tensor(shape, leaf=True))
        if self.words.name == "paddle":
            self._line(f"{name}.stop_gradient = False")
        self.leaves.append(name)
        return name

    def _plain(self, shape: Shape) -> str:
        text = self.chance.choice(self.words.plain).replace("{sizes}", sizes_of(shape))
        if not shape:
            text = f"{self.words.name}.ones([])"
        return self._name("c", text, Tensor(shape))


def sizes_of(shape: Shape) -> str:
    return ", ".join(map(str, shape))
