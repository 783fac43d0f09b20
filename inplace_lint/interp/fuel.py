"""The limits of the exploration, all in one place and all in steps, so that results are the same on every machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar

Path = TypeVar("Path")

PATHS_IN_FUNCTION = 4
PATHS_IN_METHOD = 3
PATHS_IN_ROOT = 32
PATHS_IN_CONSTRUCTOR = 2
DEPTH = 24
RECURSION = 2
EXACT_TURNS = 4
EXACT_TURNS_IN_CONSTRUCTOR = 64
UNKNOWN_TURNS = 2
CONSTRUCTIONS = 3
CONFIGURATIONS = 3
CHOICES = 3
STEPS_IN_ROOT = 5_000
STEPS_IN_CALLER = 2_000
STEPS_AT_IMPORT = 1_000
STEPS_AT_IMPORTS = 20_000
_FEW = 2_000
_FEWER = 1_000


@dataclass(slots=True)
class Fuel:
    """
    What is left of the limits for the root that runs, and what was counted over all roots.

    `width` is how many paths what runs now may have: the paths of a caller share the limit among them, so that the
    work of a root grows with the sum of its paths and not with their product. `prefers` is the side of an unknown
    condition that is followed when only one can be. `lazy`: modules are constructed when something asks for a part of
    them; a root that only passes them on then costs next to nothing. `shallow`: what lists the parts of a module asks
    for none of them. `at_imports` are steps for the statements of all modules that it asks, each of which has some of
    its own.
    """

    steps: int = STEPS_IN_ROOT
    at_imports: int = STEPS_AT_IMPORTS
    paths: int = PATHS_IN_FUNCTION
    most: int = PATHS_IN_FUNCTION
    prefers: bool = True
    lazy: bool = False
    shallow: bool = False
    cut: set[str] = field(default_factory=set)
    counters: Counter[str] = field(default_factory=Counter)
    returned: set[str] = field(default_factory=set)
    before: frozenset[str] = frozenset()
    entered: set[str] = field(default_factory=set)

    @property
    def width(self) -> int:
        """Give how many paths what runs now may have: fewer when little is left, so that one gets to the end."""
        return self.paths if self.paths < self.most else self.most  # noqa: FURB136 - `min` takes twice as long here

    @width.setter
    def width(self, paths: int) -> None:
        self.paths = paths

    def start_root(self, *, again: bool = False, steps: int = STEPS_IN_ROOT, paths: int = PATHS_IN_FUNCTION) -> None:
        """Give a new root the full limits; `again` when it has begun and only what came before it was run."""
        self.steps, self.at_imports = steps, STEPS_AT_IMPORTS
        self.width = self.most = paths
        self.prefers = True
        self.lazy = self.shallow = False
        self.cut.clear()
        self.before = frozenset(self.returned)
        self.counters["roots"] += not again

    def end_root(self, *, finished: bool) -> None:
        """Forget which functions a root ran if it did not come to its end: they are then run on their own."""
        if not finished or "steps" in self.cut:
            self.returned = set(self.before)

    def step(self) -> bool:
        """Use up one step; False when none is left."""
        self.steps -= 1
        if self.steps < _FEW:
            self.most = 2 if self.steps > _FEWER else 1
            if self.steps < 0:
                self.drop("steps")
                return False
        return True

    def share(self, paths: int) -> int:
        """Divide the width among so many paths; gives the width from before, to be set back."""
        before = self.paths
        if paths > 1:
            self.paths = max(1, self.width // paths)
        return before

    def limited(self, paths: list[Path]) -> list[Path]:
        """Keep as many paths as there may be, and count that others were dropped."""
        if len(paths) <= self.width:
            return paths
        self.drop("paths")
        return paths[: self.width]

    def drop(self, reason: str) -> None:
        """Count something that was not explored."""
        self.counters[f"dropped_{reason}"] += 1
        if reason not in self.cut:
            self.cut.add(reason)
            self.counters["roots_cut_by_" + reason] += 1
