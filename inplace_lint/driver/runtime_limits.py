"""Room for large work: on the stack of the interpreter, and without the garbage collector walking it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")

_DEEPEST = 6_000
_SLOTS = 70_000  # of eight bytes: what is left of the next power of two holds some thousand frames


@contextmanager
def room_to_recurse() -> Iterator[None]:
    """Run with a higher limit of recursion."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def collector_off() -> Iterator[None]:
    """Run without the cyclic garbage collector."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def with_room(work: Callable[[], Result]) -> Result:
    """
    Give what `work` returns, run with room to recurse and with the frames of its calls in one piece of memory.

    CPython since 3.11 keeps frames in pieces of 16 KiB and gives a piece back when it is empty, so that recursion that
    goes up and down across the end of one asks the system for memory each time: a seventh of all time on timm.
    """
    with room_to_recurse():
        result: Result = _in_one_piece(work)
    return result


def _in_one_piece(work: Callable[[], Any]) -> Any:  # noqa: ANN401 - gives what the argument gives
    return work()


# A frame that claims a large stack gets a piece of its own, and the frames above it get what is left of that.
_in_one_piece.__code__ = _in_one_piece.__code__.replace(co_stacksize=_SLOTS)
