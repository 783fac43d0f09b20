"""
What is still to be tried with one construction: which parameters get tensors, and of which sizes.

A `Search` takes guesses from two lists in turn: likely inputs, and what the errors of earlier guesses ask for. What
ended well is tried on larger inputs once, since sizes choose branches.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import re
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set

from . import arguments, guesses, shapes

_MOST = 60  # trials with one way to call one construction
_MOST_ALONE = 6  # optional parameters that are given alone
_TENSOR = re.compile(r"Tensor")

Maker = Callable[[], Any]


class Way(NamedTuple):
    """Which parameters get tensors, what the others get, and which optional ones get nothing."""

    names: List[str]
    options: Dict[str, Maker]
    absent: List[str]


class Search:
    """One way to call what `make` gives; `layer` is the kind of its first layer, `width` what that one wants."""

    def __init__(self, make: Maker, way: Way, layer: str, width: int) -> None:
        self.make, self.way, self.layer, self.width = make, way, layer, width
        self._likely = list(guesses.first_guesses(way.names, layer, width)) if way.names else [()]
        self._asked: List[shapes.Guess] = []
        self._seen: Set[shapes.Guess] = set()
        self._errors: Set[str] = set()
        self._left = _MOST
        self.has_news = False  # whether its last turn gave an error that nothing gave before
        self.has_ended = False  # whether one of the guesses ended well

    def next(self) -> Optional[shapes.Guess]:
        """Give the next guess; None where there is none."""
        lists = [self._asked, self._likely] if self._left % 3 else [self._likely, self._asked]
        for waiting in lists:
            while waiting and self._left > 0:
                guess = waiting.pop(0)
                if guess not in self._seen:
                    self._seen.add(guess)
                    self._left -= 1
                    return guess
        return None

    def failed(self, guess: shapes.Guess, error: str) -> None:
        """Ask for what an error wants, sooner than for what others want; one that came before was not helped so."""
        if self.has_ended:
            return
        better = list(shapes.mended(guess, error))
        self._asked = [*self._asked, *better] if error in self._errors else [*better, *self._asked]
        self._errors.add(error)

    def ended(self, guess: shapes.Guess, *, is_enough: bool) -> None:
        """Stop here, or go on with larger inputs."""
        if not self.has_ended:
            self._likely, self._asked = [] if is_enough else list(guesses.grown(guess)), []
        self.has_ended = True


def ways(kit: Any, shown: Callable[..., Any]) -> Iterator[Way]:
    """Give ways to call: the required parameters alone, with all optional ones that take tensors, with each of them."""
    every = [item for item in arguments.parameters(shown) if item.name != "self"]
    required = [item for item in every if item.default is inspect.Parameter.empty]
    optional = [item for item in every if item.default is None and _takes_tensor(shown, item)]
    chosen = [required, [*required, *optional]] if optional else [required]
    alone = [[*required, item] for item in optional[:_MOST_ALONE]] if len(optional) > 1 else []
    for items in [*chosen, *alone]:
        makers = {item.name: _maker(kit, shown, item) for item in items}
        yield Way(
            [name for name, make in makers.items() if make is None],
            {name: make for name, make in makers.items() if make is not None},
            [item.name for item in optional if item not in items],
        )


def missed(way: Way, shown: Callable[..., Any], error: BaseException) -> Optional[Way]:
    """Give the way that has what an error misses: optional inputs that are None in the line that failed."""
    code = getattr(inspect.unwrap(shown), "__code__", None)
    if "NoneType" not in str(error) or code is None:
        return None
    line, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            line = linecache.getline(code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    found = [name for name in way.absent if re.search(r"\b%s\b" % re.escape(name), line)]
    absent = [name for name in way.absent if name not in found]
    return Way([*way.names, *found], way.options, absent) if found else None


def _takes_tensor(call: Callable[..., Any], item: inspect.Parameter) -> bool:
    declared = arguments.annotation(call, item)
    return declared is inspect.Parameter.empty or bool(_TENSOR.search(str(declared)))


def _maker(kit: Any, call: Callable[..., Any], item: inspect.Parameter) -> Optional[Maker]:
    """Give what makes a value for a parameter; None for one that wants a tensor."""
    declared = arguments.annotation(call, item)
    low = item.name.lower()
    text = str(declared)
    if declared is not inspect.Parameter.empty and not _TENSOR.search(text) and text not in {"typing.Any", "Any"}:
        return lambda: next(iter(arguments.values_for(kit, item.name, declared, 0)), None)
    if declared is inspect.Parameter.empty and re.search(r"^(model|net|module|network|layer|encoder|decoder)$", low):
        return lambda: kit.named("Linear")(arguments.WIDTH, arguments.WIDTH)
    if declared is inspect.Parameter.empty and re.search(r"optim", low):
        return functools.partial(_optimizer, kit)
    if declared is inspect.Parameter.empty and re.search(
        r"^(n|num|dim|axis|eps|p|alpha|beta|gamma|lr|momentum|inplace|training|kernel_size|stride|padding|scale|steps?|"
        r"epochs?|height|width|size|heads|groups)$|_(dim|size|heads|groups|rate|prob)$|^(num|is|use|return)_",
        low,
    ):
        return lambda: next(iter(arguments.values_for(kit, item.name, declared, 0)), None)
    return None


def _optimizer(kit: Any) -> Any:
    linear = kit.named("Linear")(arguments.WIDTH, arguments.WIDTH)
    if kit.is_torch:
        return kit.framework.optim.SGD(linear.parameters(), lr=0.1)
    return kit.framework.optimizer.SGD(learning_rate=0.1, parameters=linear.parameters())
