"""
Running code that is made up around a flagged class or function: construct it, call it, go back, by trial.

The number of trials is bounded, and so is the time. A trial that fails says what to try next; one that ends is told
with what the witness saw, and a few more follow with other choices, since a branch may not have been taken.
"""

from __future__ import annotations

import functools
import inspect
import re
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import build, shapes
from .attempt import Answer, attempt, in_words

_MOST_TRIALS = 80
_MOST_WITH_ONE = 40
_MORE = 12  # trials after one that ended
_FEW = 3  # trials after all flagged lines ran, and something broke
_MORE_ONCE_RUN = 2  # trials after one that ran a flagged line
_TENSOR = re.compile(r"Tensor")


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

    def of_class(self, kind: Any, method: str) -> None:
        """Construct a class in several ways, and call a method, or the instance, with made-up inputs."""
        self._of_class(kind, method)
        if not self.succeeded and self.kit.is_meta:
            self.kit.is_real = True
            self._left = _MOST_TRIALS
            self._of_class(kind, method)

    def _of_class(self, kind: Any, method: str) -> None:
        built = failed = 0
        for options in build.constructions(self.kit, kind):
            if self._is_over():
                return
            self.kit.seed()
            made = attempt(lambda options=options: self.kit.made(lambda: kind(**options)))  # type: ignore[misc]
            if made.error is not None:
                if not built and not failed:
                    self.problem = "constructing it: " + in_words(made.error)
                failed += 1
                self._ended(made)
                continue
            built += 1
            self.of_instance(made.value, method)

    def of_instance(self, instance: Any, method: str) -> None:
        """Call an instance with made-up inputs."""
        kind, width = "", build.WIDTH
        if isinstance(instance, self.kit.layer):
            instance.train()
            kind, width = build.width_of(self.kit, instance)
        call = instance if method in {"", "forward", "__call__"} else getattr(instance, method)
        if not callable(call):
            self.problem = "it cannot be called"
            return
        shown = instance.forward if call is instance and hasattr(instance, "forward") else call
        self.of_call(call, shown, kind, width)

    def of_call(self, call: Callable[..., Any], shown: Callable[..., Any], kind: str = "", width: int = 0) -> None:
        """Call something with inputs by trial; `shown` is where its parameters are declared."""
        for names, options in _ways(self.kit, shown):
            self._search(call, names, options, kind, width or build.WIDTH)
            if self._is_over():
                return

    def _search(
        self, call: Callable[..., Any], names: List[str], options: Dict[str, Any], kind: str, width: int
    ) -> None:
        waiting = list(shapes.first_guesses(names, kind, width)) if names else [()]
        seen = set()
        left = _MOST_WITH_ONE
        while waiting and left and not self._is_over():
            guess = waiting.pop(0)
            if guess in seen:
                continue
            seen.add(guess)
            left -= 1
            answer, reached = self._run(call, names, guess, options)
            if reached.every and reached.broke:
                self._left = min(self._left, _FEW)
            if answer.error is None:
                self.succeeded = True
                self._more = min(self._more - 1, _MORE_ONCE_RUN if reached.some else self._more)
                return
            self.problem = in_words(answer.error)
            better = list(shapes.mended(guess, str(answer.error)))
            waiting = [*better, *waiting]

    def _run(
        self, call: Callable[..., Any], names: List[str], guess: shapes.Guess, options: Dict[str, Any]
    ) -> Tuple[Answer, Reached]:
        self._left -= 1
        self.kit.seed()
        self.kit.numbers.clear()
        answer = attempt(functools.partial(self._step, call, names, guess, options))
        return answer, self._ended(answer)

    def _step(self, call: Callable[..., Any], names: List[str], guess: shapes.Guess, options: Dict[str, Any]) -> None:
        inputs = {name: self._input(spec) for name, spec in zip(names, guess)}  # noqa: B905 - Python 3.8
        result = call(**inputs, **{name: make() for name, make in options.items()})
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


def _ways(kit: Any, shown: Callable[..., Any]) -> Iterator[Tuple[List[str], Dict[str, Callable[[], Any]]]]:
    """Give ways to call: which parameters get tensors, and what the others get; first the required ones alone."""
    every = [item for item in build.parameters(shown) if item.name != "self"]
    required = [item for item in every if item.default is inspect.Parameter.empty]
    optional = [item for item in every if item.default is None and _takes_tensor(shown, item)]
    for chosen in [required, [*required, *optional]] if optional else [required]:
        names, options = [], {}  # type: List[str], Dict[str, Callable[[], Any]]
        for item in chosen:
            make = _maker(kit, shown, item)
            if make is None:
                names.append(item.name)
            else:
                options[item.name] = make
        yield names, options


def _takes_tensor(call: Callable[..., Any], item: inspect.Parameter) -> bool:
    declared = build.annotation(call, item)
    return declared is inspect.Parameter.empty or bool(_TENSOR.search(str(declared)))


def _maker(kit: Any, call: Callable[..., Any], item: inspect.Parameter) -> Optional[Callable[[], Any]]:
    """Give what makes a value for a parameter; None for one that wants a tensor."""
    declared = build.annotation(call, item)
    low = item.name.lower()
    text = str(declared)
    if declared is not inspect.Parameter.empty and not _TENSOR.search(text) and text not in {"typing.Any", "Any"}:
        return lambda: next(iter(build.values_for(kit, item.name, declared, 0)), None)
    if declared is inspect.Parameter.empty and re.search(r"^(model|net|module|network|layer|encoder|decoder)$", low):
        return lambda: kit.named("Linear")(build.WIDTH, build.WIDTH)
    if declared is inspect.Parameter.empty and re.search(r"optim", low):
        return functools.partial(_optimizer, kit)
    if declared is inspect.Parameter.empty and re.search(
        r"^(n|num|dim|axis|eps|p|alpha|beta|gamma|lr|momentum|inplace|training|kernel_size|stride|padding|scale|steps?|"
        r"epochs?|height|width|size|heads|groups)$|_(dim|size|heads|groups|rate|prob)$|^(num|is|use|return)_",
        low,
    ):
        return lambda: next(iter(build.values_for(kit, item.name, declared, 0)), None)
    return None


def _optimizer(kit: Any) -> Any:
    linear = kit.named("Linear")(build.WIDTH, build.WIDTH)
    if kit.is_torch:
        return kit.framework.optim.SGD(linear.parameters(), lr=0.1)
    return kit.framework.optimizer.SGD(learning_rate=0.1, parameters=linear.parameters())
