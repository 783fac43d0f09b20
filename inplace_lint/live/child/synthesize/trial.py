"""
Running code that is made up around a flagged class or function: construct it, call it, go back, by trial.

The number of trials is bounded, and so is the time; every construction gets a few before one gets more. A trial that
fails says what to try next; one that ends is told with what the witness saw, and a few more follow with other
choices, since a branch may not have been taken.
"""

from __future__ import annotations

import functools
import time
from typing import Any, Callable, Dict, List, NamedTuple, Set, Tuple

from ..attempt import Answer, attempt, in_words
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

    `ended` is told how each trial ended; it says whether every flagged line has run by then, or one at least, and
    whether something broke.
    """

    kit: Any
    ended: Callable[[Answer], Reached]
    seconds: float


class Trials:
    """The trials of one target."""

    def __init__(self, stage: Stage) -> None:
        self.kit, self._ended = stage.kit, stage.ended
        self._until = time.monotonic() + stage.seconds
        self._left = _MOST_TRIALS
        self._more = _MORE
        self.problem = "no way of constructing it was found"
        self.succeeded = False
        self._problems: Set[str] = set()  # all that any guess told

    def of_class(self, kind: Any, method: str) -> None:
        """Construct a class in several ways, and call a method, or the instance, with made-up inputs."""
        self._of_class(kind, method)
        if not self.succeeded and self.kit.is_meta:
            self.kit.is_real = True
            self._left = _MOST_TRIALS
            self._of_class(kind, method)

    def _of_class(self, kind: Any, method: str) -> None:
        waiting: List[Search] = []
        is_built = False
        for options in arguments.constructions(self.kit, kind):
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
                self.problem = "it cannot be called"
                return
            waiting += self._begun(make, made.value, None if not is_built else _FULL_WAYS)
            is_built = True
        self._rounds(waiting)

    def _constructed(self, kind: Any, options: Dict[str, Any], method: str) -> Any:
        """Construct a class anew, and give what is to be called."""
        self.kit.seed()
        instance = self.kit.made(lambda: kind(**options))
        if isinstance(instance, self.kit.layer):
            instance.train()
        return instance if method in {"", "forward", "__call__"} else getattr(instance, method)

    def of_call(self, call: Callable[..., Any]) -> None:
        """Call something, a layer or a function, with inputs by trial."""
        if isinstance(call, self.kit.layer):
            call.train()
        self._rounds(self._begun(lambda: call, call, None))

    def _begun(self, make: Maker, call: Callable[..., Any], most: Any) -> List[Search]:
        """Give each way to call something its first turn; give the searches that are not at their end."""
        owner = call if isinstance(call, self.kit.layer) else getattr(call, "__self__", None)
        layer, width = (
            arguments.width_of(self.kit, owner) if isinstance(owner, self.kit.layer) else ("", arguments.WIDTH)
        )
        searches = [
            Search(make, way, layer, width or arguments.WIDTH) for way in list(ways(self.kit, self._shown(call)))[:most]
        ]
        waiting: List[Search] = []
        for search in searches:
            if self._is_over():
                break
            waiting += self._turn(search, call)
        return waiting

    def _shown(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Give where the parameters of a call are declared."""
        return call.forward if isinstance(call, self.kit.layer) and hasattr(call, "forward") else call

    def _rounds(self, waiting: List[Search]) -> None:
        """Give each search one turn after the other, until all are at their end; first where the last told news."""
        while waiting and not self._is_over():
            search = next((one for one in waiting if one.has_news), waiting[0])
            waiting.remove(search)
            made = attempt(search.make)
            if made.error is None:
                waiting += self._turn(search, made.value)

    def _turn(self, search: Search, call: Callable[..., Any]) -> List[Search]:
        """Try some guesses of a search; give what is to have another, itself or one that an error asks for."""
        search.has_news = False
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
            self.problem = str(answer.error) if is_ours else in_words(answer.error)
            search.has_news |= self.problem not in self._problems
            self._problems.add(self.problem)
            search.failed(guess, str(answer.error))
            way = missed(search.way, self._shown(call), answer.error)
            if way is not None:
                return self._turn(Search(search.make, way, search.layer, search.width), call)
        return [search]

    def _run(self, call: Callable[..., Any], way: Way, guess: shapes.Guess) -> Tuple[Answer, Reached]:
        self._left -= 1
        self.kit.seed()
        self.kit.numbers.clear()
        answer = attempt(functools.partial(self._step, call, way, guess))
        return answer, self._ended(answer)

    def _step(self, call: Callable[..., Any], way: Way, guess: shapes.Guess) -> None:
        inputs = {name: self._input(spec) for name, spec in zip(way.names, guess)}  # noqa: B905 - Python 3.8
        result = call(**inputs, **{name: make() for name, make in way.options.items()})
        self.kit.note(result, "the result")
        held = result if self.kit.tensors(result) else list(inputs.values())
        if not self.kit.backward(held):
            raise NoBackwardError
        if isinstance(call, self.kit.layer):
            for name, gradient in self.kit.gradients(call).items():
                self.kit.note(gradient, f"the gradient of `{name}`")

    def _input(self, spec: shapes.Spec) -> Any:
        if spec.kind == "list":
            return [self.kit.floats(spec.shape) for _ in range(4)]
        return {"float": self.kit.floats, "long": self.kit.longs, "bool": self.kit.bools}[spec.kind](spec.shape)

    def _is_over(self) -> bool:
        return self._left <= 0 or self._more <= 0 or time.monotonic() > self._until


class NoBackwardError(Exception):
    """What ran gave nothing that a backward could start from."""

    def __str__(self) -> str:
        return "it ran, but gave nothing that requires a gradient"
