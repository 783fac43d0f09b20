"""
What is still to be tried with one construction: which parameters get tensors, and of which sizes.

A `Search` takes guesses from two lists in turn: first guesses, and corrections after the errors of earlier guesses.
What ended well is tried on larger inputs once, since sizes choose branches.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import re
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set

from ..framework_adapter import FrameworkAdapter
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
    """One way to call what `make` returns; `layer` is the kind of its first layer, `width` what that one wants."""

    def __init__(self, make: Maker, way: Way, layer: str, width: int) -> None:
        self.make, self.way, self.layer, self.width = make, way, layer, width
        self._guesses = list(guesses.first_guesses(way.names, layer, width)) if way.names else [()]
        self._corrected: List[shapes.Guess] = []
        self._seen: Set[shapes.Guess] = set()
        self._errors: Set[str] = set()
        self._left = _MOST
        self.has_new_error = False  # whether its last turn ended in an error that no other turn ended in
        self.has_ended = False  # whether one of the guesses ended well

    def next(self) -> Optional[shapes.Guess]:
        """Return the next guess; None where there is none."""
        lists = [self._corrected, self._guesses] if self._left % 3 else [self._guesses, self._corrected]
        for waiting in lists:
            while waiting and self._left > 0:
                guess = waiting.pop(0)
                if guess not in self._seen:
                    self._seen.add(guess)
                    self._left -= 1
                    return guess
        return None

    def failed(self, guess: shapes.Guess, error: str) -> None:
        """Add what an error calls for, before what others do; the same error again shows that it did not help."""
        if self.has_ended:
            return
        better = list(shapes.corrected(guess, error))
        self._corrected = [*self._corrected, *better] if error in self._errors else [*better, *self._corrected]
        self._errors.add(error)

    def ended(self, guess: shapes.Guess, *, is_enough: bool) -> None:
        """Stop here, or go on with larger inputs."""
        if not self.has_ended:
            self._guesses, self._corrected = [] if is_enough else list(guesses.grown(guess)), []
        self.has_ended = True


def ways(adapter: FrameworkAdapter, shown: Callable[..., Any]) -> Iterator[Way]:
    """Return ways to call: the required parameters alone, with all optional tensors, and with each of them."""
    every = [item for item in arguments.parameters(shown) if item.name != "self"]
    required = [item for item in every if item.default is inspect.Parameter.empty]
    optional = [item for item in every if item.default is None and _takes_tensor(shown, item)]
    chosen = [required, [*required, *optional]] if optional else [required]
    alone = [[*required, item] for item in optional[:_MOST_ALONE]] if len(optional) > 1 else []
    for items in [*chosen, *alone]:
        makers = {item.name: _maker(adapter, shown, item) for item in items}
        yield Way(
            [name for name, make in makers.items() if make is None],
            {name: make for name, make in makers.items() if make is not None},
            [item.name for item in optional if item not in items],
        )


def missed(way: Way, shown: Callable[..., Any], error: BaseException) -> Optional[Way]:
    """Return the way with what an error misses: optional inputs that are None in the line that failed."""
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


def _maker(adapter: FrameworkAdapter, call: Callable[..., Any], item: inspect.Parameter) -> Optional[Maker]:
    """Return what makes a value for a parameter; None for one that wants a tensor."""
    declared = arguments.annotation(call, item)
    low = item.name.lower()
    text = str(declared)

    def make() -> Any:
        return next(iter(arguments.values_for(adapter, item.name, declared)), None)

    if declared is not inspect.Parameter.empty:
        return None if _TENSOR.search(text) or text in {"typing.Any", "Any"} else make
    if re.search(r"^(model|net|module|network|layer|encoder|decoder)$", low):
        return functools.partial(_linear, adapter)
    if "optim" in low:
        return functools.partial(_optimizer, adapter)
    if re.search(
        r"^(n|num|dim|axis|eps|p|alpha|beta|gamma|lr|momentum|inplace|training|kernel_size|stride|padding|scale|steps?|"
        r"epochs?|height|width|size|heads|groups)$|_(dim|size|heads|groups|rate|prob)$|^(num|is|use|return)_",
        low,
    ):
        return make
    return None


def _optimizer(adapter: FrameworkAdapter) -> Any:
    return adapter.sgd(_linear(adapter).parameters())


def _linear(adapter: FrameworkAdapter) -> Any:
    return adapter.named("Linear")(arguments.WIDTH, arguments.WIDTH)
