"""Reports on files that cannot be checked: wrong syntax is a finding, a crash of the analyzer one line."""

from __future__ import annotations

import ast
import traceback
import warnings
from pathlib import Path

from inplace_lint.core.finding import Certainty, Finding, Severity
from inplace_lint.core.span import Span
from inplace_lint.rules.text import INVALID_SYNTAX


def crash(error: BaseException) -> str:
    """Return a line about an unexpected exception: what it is and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = "".join(f" ({Path(*Path(one.filename).parts[-2:]).as_posix()}:{one.lineno})" for one in frames[-1:])
    text = str(error).partition("\n")[0]
    return f"internal error: {type(error).__name__}: {text}{place}"


def hides_interrupt(error: BaseException) -> bool:
    """Check whether an exception was raised while an interrupt was handled, as LibCST does in its context managers."""
    while error.__context__ is not None:
        error = error.__context__
        if isinstance(error, KeyboardInterrupt):
            return True
    return False


def syntax_finding(path: str, source: str, error: SyntaxError) -> Finding | None:
    """
    Return the finding that a file is no valid Python, at the place and in the words of the running Python.

    It is None where that reads the file, or where the error is about another text: then the fault is ours.
    """
    refused = _refusal(source)
    if refused is None or error.filename != path:
        return None
    error = refused if isinstance(refused, SyntaxError) and refused.lineno else error
    line, column = error.lineno or 1, max((error.offset or 1) - 1, 0)
    end_line, end = error.end_lineno or line, max((error.end_offset or 0) - 1, 0)
    if (end_line, end) <= (line, column):
        end_line, end = line, column + 1
    span = Span(path, line, column, end_line, end)
    return Finding(
        code=INVALID_SYNTAX.code,
        name=INVALID_SYNTAX.name,
        severity=Severity.ERROR,
        certainty=Certainty.ALWAYS,
        message=(error.msg or "invalid syntax").partition("\n")[0].removeprefix("parser error: "),
        span=span,
        label="here",
    )


def _refusal(source: str) -> Exception | None:
    """Return the error with which the running Python refuses a text; None where it reads it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
    return None
