"""The limits of the exploration, all in one place and all in steps, so that results are the same on every machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypedDict, TypeVar

from msgspec import Struct, field

from inplace_lint.core import interruption
from inplace_lint.domain.state import State
from inplace_lint.domain.values import RefId, Three
from inplace_lint.interp.outcome import Flow, Outcome, Outcomes, Raised, Results

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = TypeVar("Path", bound=tuple[State, object])

PATHS_IN_FUNCTION = 4
PATHS_IN_METHOD = 3
PATHS_IN_TRAINING = 24
PATHS_IN_ROOT = 32
PATHS_IN_CONSTRUCTOR = 2
DEPTH = 24
RECURSION = 2
COUNTED_RECURSION = 8
EXACT_TURNS = 4
EXACT_TURNS_IN_CONSTRUCTOR = 64
NESTED_TURNS = 256  # of the loops of a function that are in one another, multiplied
TURNS_OVER_PARAMETERS = 256  # of a loop that says what is trained
UNKNOWN_TURNS = 2
STEPS_IN_WHILE = 200  # of a `while` loop whose condition is known, to its end
CONSTRUCTIONS = 3
CONFIGURATIONS = 3
CHOICES = 3
CHEAP_CHOICES = 10  # as long as all of them make few calls
CHOICES_OF_LARGE = 2
CALLS_IN_CHOICES = 300
CALLS_IN_SIDES = 80
SETTERS = 3
TEMPLATES = 4  # inherited methods of a class that call its own, run on it
PATHS_THAT_RAISE = 2
STEPS_IN_ROOT = 6_500
STEPS_IN_CALLER = 2_000
STEPS_AT_IMPORT = 1_000
STEPS_AT_IMPORTS = 20_000
_ON_ONE_PATH = {STEPS_IN_ROOT: 4_000, STEPS_IN_CALLER: 1_000}  # the last steps, which lead to the end
_ON_TWO_PATHS = {STEPS_IN_ROOT: 500, STEPS_IN_CALLER: 1_000}  # those before
STEPS_TO_THE_END = 1_500  # beyond the last: what has begun is run to its end, without what it calls
_PAUSE = 63  # an analysis that is to end ends within so many steps


class Limits(TypedDict, total=False):
    """The fields of `Fuel` that hold for a part of the exploration only."""

    paths: int
    prefers: bool
    enters: bool
    steps: int
    lazy: bool
    shallow: bool
    listens: bool
    lacks: frozenset[tuple[RefId, str]]
    raises: int


class Fuel(Struct):
    """
    What is left of the limits for the entry point that runs, and what was counted over all of them.

    `width` is how many paths what runs now may have: the paths of a caller share the limit among them, so that the
    work grows with the sum of its paths and not with their product. `prefers` is the side of an unknown
    condition that is followed when only one can be, `enters` the one that is preferred when a function is called.
    `spent` are the steps of earlier entry points, and `granted` those that this one began with; when `on_two` are left
    there are at most two paths, and when `on_one` are left there is one, which is then seen to its end.
    `lazy`: modules are constructed when something needs a part of them; where they are only passed on, that costs
    next to nothing. `shallow`: what lists the parts of a module needs none of them constructed. `at_imports` are steps
    for the statements of all modules that are run for a name in them; each statement also has some of its own.
    `thorough`: what ran in an entry point that was cut in any way is run on its own, too.

    `listens`: something outside may handle an exception, so that its class is looked at and `raises` more sides of
    conditions that only raise are followed; such a side is no path where nobody listens. `lacks` are the classes
    of exceptions that calls handle, each with the scope of its call. `raised` are the paths on
    which a call has raised, until the statement that runs takes them as its outcomes. `aside` are paths that were
    dropped, since there were too many, after something had been found on them.
    """

    steps: int = STEPS_IN_ROOT
    granted: int = STEPS_IN_ROOT
    on_one: int = _ON_ONE_PATH[STEPS_IN_ROOT]
    on_two: int = _ON_ONE_PATH[STEPS_IN_ROOT] + _ON_TWO_PATHS[STEPS_IN_ROOT]
    spent: int = 0
    at_imports: int = STEPS_AT_IMPORTS
    paths: int = PATHS_IN_FUNCTION
    most: int = PATHS_IN_FUNCTION
    prefers: bool = True
    enters: bool = True
    lazy: bool = False
    shallow: bool = False
    thorough: bool = False
    listens: bool = False
    lacks: frozenset[tuple[RefId, str]] = frozenset()
    raises: int = 0
    raised: Outcomes = field(default_factory=list)
    aside: list[State] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)
    counters: Counter[str] = field(default_factory=Counter)
    returned: set[str] = field(default_factory=set)
    before: frozenset[str] = frozenset()
    entered: set[str] = field(default_factory=set)

    @property
    def width(self) -> int:
        """Return how many paths what runs now may have: fewer when few steps are left, so that one gets to the end."""
        return self.paths if self.paths < self.most else self.most  # noqa: FURB136 - `min` takes twice as long here

    @property
    def taken(self) -> int:
        """Return how many steps all entry points took so far."""
        return self.spent + self.granted - self.steps

    @property
    def is_used_up(self) -> bool:
        """Whether no step is left but those on which what has begun is run to its end: no loop and no call goes on."""
        return self.steps < 0

    def start_root(self, *, again: bool = False, steps: int = STEPS_IN_ROOT, paths: int = PATHS_IN_FUNCTION) -> None:
        """Start an entry point with full limits; `again` where it has begun and only what came before it was run."""
        self.spent += self.granted - self.steps
        self.steps = self.granted = steps
        self.on_one = _ON_ONE_PATH[steps]
        self.on_two = self.on_one + _ON_TWO_PATHS[steps]
        self.at_imports = STEPS_AT_IMPORTS
        self.paths = self.most = paths
        self.prefers = self.enters = True
        self.lazy = self.shallow = self.listens = False
        self.raised.clear()
        self.aside.clear()
        self.cut.clear()
        self.before = frozenset(self.returned)
        self.counters["roots"] += not again

    def end_root(self, *, finished: bool) -> None:
        """Forget which functions an entry point ran if it did not come to its end: they are then run on their own."""
        if not finished or "steps" in self.cut or (self.thorough and self.cut):
            self.returned = set(self.before)

    def step(self) -> bool:
        """Use up one step; False when none is left, not even of those on which calls are not followed."""
        self.steps -= 1
        if not self.steps & _PAUSE:
            interruption.check()
        if self.steps < self.on_two:
            self.most = 2 if self.steps > self.on_one else 1
            if self.steps < 0:
                self.drop("steps")
                return self.steps >= -STEPS_TO_THE_END
        return True

    def scope(self, **limits: Unpack[Limits]) -> _Scope:
        """Return a context in which some of the limits are others; after it, the limits of before hold again."""
        return _Scope(self, limits)

    def preferring(self, side: bool) -> AbstractContextManager[None]:
        """Return a context in which a side of unknown conditions is preferred."""
        return _UNCHANGED if self.prefers is side else _Scope(self, {"prefers": side})

    def shared(self, paths: int) -> AbstractContextManager[None]:
        """Return a context in which the width is divided among so many paths."""
        return _Scope(self, {"paths": max(1, self.width // paths)}) if paths > 1 else _UNCHANGED

    def listening(
        self,
        listens: bool = True,  # noqa: FBT002 - a handler or none
        lacks: frozenset[tuple[RefId, str]] = frozenset(),
    ) -> AbstractContextManager[None]:
        """Return a context in which exceptions may be handled: those that `lacks` names by what a call itself does."""
        if not listens:
            return _UNCHANGED
        return _Scope(self, {"listens": True, "raises": PATHS_THAT_RAISE, "lacks": self.lacks | lacks})

    def follows_raise(self) -> bool:
        """Say whether a side of a condition that only raises is followed, and count it."""
        if not self.listens or self.raises <= 0:
            return False
        self.raises -= 1
        return True

    def only_side(self, side: Three) -> bool:
        """Return the one side of a condition that is followed; count that it is, and whether nothing speaks for it."""
        self.drop("sides")
        self.counters["guessed_sides"] += side is None
        return self.prefers if side is None else side

    def limited(self, outcomes: Outcomes) -> Outcomes:
        """Keep as many paths as there may be, and few of those that raise; these come last and take no width."""
        if len(outcomes) <= 1:
            return outcomes
        going = [outcome for outcome in outcomes if outcome.flow is not Flow.RAISE]
        raised = [outcome for outcome in outcomes if outcome.flow is Flow.RAISE]
        if len(going) > self.width:
            self.drop_paths(outcome.state for outcome in going[self.width :])
            going = going[: self.width]
        return [*going, *raised[:PATHS_THAT_RAISE]]

    def first(self, paths: list[Path]) -> list[Path]:
        """Keep as many paths as there may be, and count that others were dropped."""
        if len(paths) <= self.paths:
            return paths
        self.drop_paths(path[0] for path in paths[self.paths :])
        return paths[: self.paths]

    def within(self, paths: list[State]) -> list[State]:
        """Keep as many paths as the width allows, and count that others were dropped."""
        if len(paths) <= self.width:
            return paths
        self.drop_paths(paths[self.width :])
        return paths[: self.width]

    def drop_paths(self, paths: Iterable[State]) -> None:
        """Count that paths were dropped, and keep those on which something was found that no other of them has."""
        self.drop("paths")
        for path in paths:
            if path.events and not any(set(path.events) <= set(other.events) for other in self.aside):
                self.aside.append(path)

    def leave(self, state: State, error: Raised) -> Results:
        """Leave a path on which an expression raises to the statement that runs; return that it has no value."""
        self.raised.append(Outcome(state, Flow.RAISE, error=error))
        return []

    def drop(self, reason: str) -> None:
        """Count something that was not explored."""
        self.counters[f"dropped_{reason}"] += 1
        if reason not in self.cut:
            self.cut.add(reason)
            self.counters["roots_cut_by_" + reason] += 1


class _Scope(AbstractContextManager[None]):
    """Sets limits on entry, and sets them back however it is left. A generator would be slower."""

    __slots__ = ("_before", "_fuel", "_limits")

    def __init__(self, fuel: Fuel, limits: Limits) -> None:
        self._fuel = fuel
        self._limits = limits

    def __enter__(self) -> None:
        self._before = {name: getattr(self._fuel, name) for name in self._limits}
        for name, value in self._limits.items():
            setattr(self._fuel, name, value)

    def __exit__(self, *_: object) -> None:
        for name, value in self._before.items():
            setattr(self._fuel, name, value)


_UNCHANGED = nullcontext()
