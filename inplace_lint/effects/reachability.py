"""What names lead to by the names that each of them uses, and how far that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

Uses = Mapping[str, Iterable[str]]


def reachable(starts: Iterable[str], uses: Uses) -> set[str]:
    """Return the names that uses lead to from the starts, these included; names without an entry are left out."""
    found: set[str] = set()
    waiting = [name for name in starts if name in uses]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(used for used in uses[name] if used in uses)
    return found


def heights(names: AbstractSet[str], uses: Uses) -> dict[str, int]:
    """Return for each name the length of the longest chain of uses below it; a cycle counts once."""
    found: dict[str, int] = {}

    def height(name: str, active: frozenset[str]) -> int:
        if name in found:
            return found[name]
        below = [height(used, active | {name}) for used in uses[name] if used in names and used not in active]
        found[name] = 1 + max(below, default=0)
        return found[name]

    for name in sorted(names):
        height(name, frozenset())
    return found
