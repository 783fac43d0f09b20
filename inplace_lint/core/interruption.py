"""
Lets another thread end an analysis: an editor whose text has changed has no use for the findings of the old one.

The analysis asks between two files and between two entry points, where nothing that a process keeps is half done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Interrupted(BaseException):
    """An analysis ended early because it was asked to; no crash of it, so that nothing reports it as one."""


def _never() -> bool:
    return False


_is_stopped: Callable[[], bool] = _never


@contextmanager
def stoppable(is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Run a `with` block in which `check` raises once `is_stopped` returns True."""
    global _is_stopped  # noqa: PLW0603 - a process runs one analysis at a time
    _is_stopped = is_stopped
    try:
        yield
    finally:
        _is_stopped = _never


def check() -> None:
    """
    Return at once unless the analysis is to end.

    Raises: `Interrupted`.
    """
    if _is_stopped():
        raise Interrupted
