"""Patterns with the syntax of `.gitignore`. Most runs have none, so pathspec is imported only where they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


_BRACKETS_CLOSED = re.compile(r"(\\.|\[([!^]|(?![!^]))(\]|(?!\]))(\\.|[^\]\\])*\]|[^\[\\])*")


def is_pattern(line: str) -> bool:
    """Return whether git would use a line: not a lone `!` or backslash, nor one with a bracket that is not closed."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - see above

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return _BRACKETS_CLOSED.fullmatch(line) is not None


def spec_of(lines: Iterable[str]) -> GitIgnoreSpec:
    """Compile patterns; comments, empty lines and invalid patterns are dropped."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - see above

    good = [line for line in lines if not re.fullmatch(r"\s*(#.*)?", line)]
    try:
        return GitIgnoreSpec.from_lines(good)
    except ValueError:
        return GitIgnoreSpec.from_lines([line for line in good if is_pattern(line)])


def excludes(spec: GitIgnoreSpec, path: str) -> bool | None:
    """Return whether patterns exclude a path (True), keep it (`!pattern`, False) or do not match it (None)."""
    return spec.check_file(path).include
