"""What names lead to by the names that each of them uses, and how far that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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


def heights(lines: Mapping[str, int], uses: Uses) -> dict[str, int]:
    """Return for each name, of a definition at a line, the longest chain of uses below it; a cycle counts once."""
    found: dict[str, int] = {}

    def height(name: str, active: frozenset[str]) -> int:
        if name in found:
            return found[name]
        users = sorted((used for used in uses[name] if used in lines), key=lines.__getitem__)
        below = [height(used, active | {name}) for used in users if used not in active]
        found[name] = 1 + max(below, default=0)
        return found[name]

    for name in sorted(lines, key=lines.__getitem__):
        height(name, frozenset())
    return found
