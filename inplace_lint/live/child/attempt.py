"""
Running code of the user's program: it may raise anything, also what ends a process.

This is the one place of the child that catches every exception: an error of the program is a result, not a failure.
"""

from __future__ import annotations

import traceback
from typing import Any, Callable, NamedTuple, Optional


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
    frames = traceback.extract_tb(error.__traceback__)
    line = ""
    for frame in frames:
        if "inplace_lint" not in frame.filename and not frame.filename.startswith("<"):
            line = " (%s:%s)" % (frame.filename.replace("\\", "/").rpartition("/")[2], frame.lineno)
    return "%s%s%s" % (type(error).__name__, ": " + text if text else "", line)
