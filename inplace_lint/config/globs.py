"""Patterns in the manner of `.gitignore`; pathspec is imported where there are some."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def is_pattern(line: str) -> bool:
    """Say whether a line can be a pattern; git, too, passes over a lone `!` or backslash."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - see above

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def spec_of(lines: Iterable[str]) -> GitIgnoreSpec:
    """Give what matches paths against lines; comments, empty lines and what can be no pattern say nothing."""
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - see above

    good = [line for line in lines if not re.fullmatch(r"\s*(#.*)?", line)]
    try:
        return GitIgnoreSpec.from_lines(good)
    except ValueError:
        return GitIgnoreSpec.from_lines([line for line in good if is_pattern(line)])


def says(spec: GitIgnoreSpec, path: str) -> bool | None:
    """Say whether patterns leave a path out (True), keep it (`!pattern`, False) or do not speak of it (None)."""
    return spec.check_file(path).include
