"""
Running code of the user's program: it may raise anything, also what ends a process.

This is the one place of the child that catches every exception: an error of the program is a result, not a failure.
"""

from __future__ import annotations

import os
import traceback
from typing import Any, Callable, NamedTuple, Optional

from .watch.places import installed


class Answer(NamedTuple):
    """What a call returned, or what it raised."""

    value: Any
    error: Optional[BaseException]


def attempt(call: Callable[[], Any]) -> Answer:
    """Call something of the program; an exception is an answer, too."""
    try:
        return Answer(call(), None)
    except BaseException as error:  # noqa: BLE001 - see the docstring of the module
        return Answer(None, error)


def in_words(error: BaseException) -> str:
    """Return an error as one line: its kind, its first sentence, and the line of the program it came from."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - `__str__` of a program's own error
        text = ""
    if len(text) > 200:  # noqa: PLR2004 - a line
        text = text[:197] + "..."
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_code(frame.filename)]
    own = [frame for frame in frames if not os.path.abspath(frame.filename).startswith(installed())] or frames
    line = " (%s:%s)" % (os.path.basename(own[-1].filename), own[-1].lineno) if own else ""
    return "%s%s%s" % (type(error).__name__, ": " + text if text else "", line)


def _is_code(name: str) -> bool:
    return "inplace_lint" not in name and not name.startswith("<")
