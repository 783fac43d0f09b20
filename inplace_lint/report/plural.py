"""Numbers of things in words."""

from __future__ import annotations


def counted(count: int, word: str) -> str:
    """Return a number of things: `1 error`, `2 errors`."""
    return f"{count} {word}{'' if count == 1 else 's'}"
