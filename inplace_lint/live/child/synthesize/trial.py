"""
Running a flagged class or function on synthesized inputs: construct it, call it, run backward, by trial.

The number of trials is bounded, and so is the time; every construction gets a few before one gets more. The error of a
trial that fails decides what to try next; one that ends is reported with what the witness saw, and a few more follow
with other choices, since a branch may not have been taken.
"""

from __future__ import annotations

import functools
import inspect
import time
from typing import Any, Callable, Dict, List, NamedTuple, Set, Tuple

from ..attempt import Answer, attempt, in_words
from ..framework_adapter import FrameworkAdapter
from . import arguments, shapes
from .search import Maker, Search, Way, missed, ways

_MOST_TRIALS = 300
_MOST_AT_ONCE = 8  # trials with one search before the next has its turn
_MORE = 16  # trials after one that ended
_FEW = 3  # trials after all flagged lines ran, and something broke
_MORE_ONCE_RUN = 6  # trials after one that ran a flagged line
_FULL_WAYS = 2  # ways to call each construction; the first one is called in all ways


class Reached(NamedTuple):
    """What all trials so far have reached."""

    some: bool
    every: bool
    broke: bool


class Stage(NamedTuple):
    """
    What a trial needs besides the program.

    `ended` gets the end of each trial; it returns whether every flagged line has run by then, or one at least, and
    whether something broke.
    """

    adapter: FrameworkAdapter
    ended: Callable[[Answer], Reached]
    seconds: float


class Trials:
    """The trials of one target."""

    def __init__(self, stage: Stage) -> None:
        self.adapter, self._ended = stage.adapter, stage.ended
        self._until = time.monotonic() + stage.seconds
        self._left = _MOST_TRIALS
        self._more = _MORE if stage.adapter.meter is None else _MORE_ONCE_RUN
        self.problem = "no way of constructing it was found"
        self.succeeded = False
        self._is_refused = False  # whether the problem is of a trial that came as far as a write that breaks something
        self._problems: Set[str] = set()  # all that any guess ended in

    def of_class(self, kind: Any, method: str) -> None:
        """Construct a class in several ways, and call a method, or the instance, with synthesized inputs."""
        self._of_class(kind, method)
        if not self.succeeded and self.adapter.is_meta:
            self.adapter.is_real = True
            self._left = _MOST_TRIALS
            self._of_class(kind, method)

    def _of_class(self, kind: Any, method: str) -> None:
        waiting: List[Search] = []
        is_built = False
        for options in arguments.constructions(self.adapter, kind):
            if self._is_over():
                return
            make = functools.partial(self._constructed, kind, options, method)
            made = attempt(make)
            if made.error is not None:
                if not is_built and not waiting:
                    self.problem = "constructing it: " + in_words(made.error)
                self._ended(made)
                continue
            if not callable(made.value):
                self.problem = "what it constructs cannot be called, and no code that uses it was found"
                return
            waiting += self._begun(make, made.value, None if not is_built else _FULL_WAYS)
            is_built = True
        self._rounds(waiting)

    def _constructed(self, kind: Any, options: Dict[str, Any], method: str) -> Any:
        """Construct a class anew, and return what is to be called."""
        self.adapter.seed()
        instance = self.adapter.made(lambda: kind(**options))
        if isinstance(instance, self.adapter.layer):
            instance.train()
        return instance if method in {"", "forward", "__call__"} else getattr(instance, method)

    def of_call(self, call: Callable[..., Any]) -> None:
        """Call something, a layer or a function, with inputs by trial."""
        if isinstance(call, self.adapter.layer):
            call.train()
        self._rounds(self._begun(lambda: call, call, None))

    def _begun(self, make: Maker, call: Callable[..., Any], most: Any) -> List[Search]:
        """Try each way to call something once, and return the searches that are not at their end."""
        owner = call if isinstance(call, self.adapter.layer) else getattr(call, "__self__", None)
        layer, width = (
            arguments.width_of(self.adapter, owner) if isinstance(owner, self.adapter.layer) else ("", arguments.WIDTH)
        )
        searches = [
            Search(make, way, layer, width or arguments.WIDTH)
            for way in list(ways(self.adapter, self._shown(call)))[:most]
        ]
        waiting: List[Search] = []
        for search in searches:
            if self._is_over():
                break
            waiting += self._turn(search, call)
        return waiting

    def _shown(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return where the parameters of a call are declared."""
        return call.forward if isinstance(call, self.adapter.layer) and hasattr(call, "forward") else call

    def _rounds(self, waiting: List[Search]) -> None:
        """Let the searches take turns until all are at their end, first one whose last turn ended in a new error."""
        while waiting and not self._is_over():
            search = next((one for one in waiting if one.has_new_error), waiting[0])
            waiting.remove(search)
            made = attempt(search.make)
            if made.error is None:
                waiting += self._turn(search, made.value)

    def _turn(self, search: Search, call: Callable[..., Any]) -> List[Search]:
        """Try some guesses of a search; return what is to have another turn, itself or one that an error calls for."""
        search.has_new_error = False
        for _ in range(_MOST_AT_ONCE):
            guess = search.next()
            if guess is None or self._is_over():
                return []
            answer, reached = self._run(call, search.way, guess)
            is_enough = reached.every and reached.broke
            if is_enough:
                self._left = min(self._left, _FEW)
            if answer.error is None:
                if not search.has_ended:
                    self._more = min(self._more - 1, _MORE_ONCE_RUN if reached.some else self._more)
                self.succeeded = True
                search.ended(guess, is_enough=is_enough)
                continue
            is_ours = isinstance(answer.error, NoBackwardError)
            problem = str(answer.error) if is_ours else in_words(answer.error)
            self.problem = self.problem if self._is_refused else problem
            self._is_refused |= reached.broke
            search.has_new_error |= problem not in self._problems
            self._problems.add(problem)
            search.failed(guess, str(answer.error))
            way = missed(search.way, self._shown(call), answer.error)
            if way is not None:
                return self._turn(Search(search.make, way, search.layer, search.width), call)
        return [search]

    def _run(self, call: Callable[..., Any], way: Way, guess: shapes.Guess) -> Tuple[Answer, Reached]:
        self._left -= 1
        self.adapter.seed()
        self.adapter.begin()
        answer = attempt(functools.partial(self._step, call, way, guess))
        return answer, self._ended(answer)

    def _step(self, call: Callable[..., Any], way: Way, guess: shapes.Guess) -> None:
        inputs = {name: self._input(spec) for name, spec in zip(way.names, guess)}  # noqa: B905 - Python 3.8
        result = call(**inputs, **{name: make() for name, make in way.options.items()})
        self.adapter.note(result, "the result")
        self._note_state(getattr(call, "__self__", call))
        held = result if self.adapter.tensors(result) else list(inputs.values())
        if not self.adapter.backward(held):
            raise NoBackwardError
        if isinstance(call, self.adapter.layer):
            for name, value in call.named_parameters():
                self.adapter.note(value.grad, f"the gradient of `{name}`")

    def _note_state(self, owner: Any) -> None:
        """Keep the numbers that an object other than a layer holds after a call; a layer has gradients to compare."""
        if not isinstance(owner, (self.adapter.layer, type)) and not inspect.isroutine(owner):
            for name, value in list(getattr(owner, "__dict__", {}).items()):
                self.adapter.note(value, f"the attribute `{name}`")

    def _input(self, spec: shapes.Spec) -> Any:
        if spec.kind == "list":
            return [self.adapter.floats(spec.shape) for _ in range(4)]
        return {"float": self.adapter.floats, "long": self.adapter.longs, "bool": self.adapter.bools}[spec.kind](
            spec.shape
        )

    def _is_over(self) -> bool:
        return self._left <= 0 or self._more <= 0 or time.monotonic() > self._until


class NoBackwardError(Exception):
    """What ran returned nothing that a backward could start from."""

    def __str__(self) -> str:
        return "it ran, but returned nothing that requires a gradient"
