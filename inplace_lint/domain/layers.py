"""
A mapping that forks in constant time.

`fork()` freezes what is there as a layer that both sides read, and gives each side a fresh layer of its own to write:

    a = Layers(); a[1] = "x"
    b = a.fork()          # a and b both see 1
    b[2] = "y"            # only b sees 2
    assert 2 not in a

Each layer has at least twice the size of the one above it, so a look-up stays short.
"""

from __future__ import annotations

from typing import Generic, TypeVar

Key = TypeVar("Key")
Item = TypeVar("Item")


class Layers(Generic[Key, Item]):
    """A dict whose copies share what they had in common; nothing is ever deleted."""

    __slots__ = ("_below", "_own")

    def __init__(self) -> None:
        self._own: dict[Key, Item] = {}
        self._below: tuple[dict[Key, Item], ...] = ()

    def get(self, key: Key) -> Item | None:
        """Give what is stored under the key, or None."""
        found = self._own.get(key)
        if found is not None:
            return found
        for layer in self._below:
            found = layer.get(key)
            if found is not None:
                return found
        return None

    def __getitem__(self, key: Key) -> Item:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: Key, item: Item) -> None:
        self._own[key] = item

    def __contains__(self, key: Key) -> bool:
        return self.get(key) is not None

    def items(self) -> dict[Key, Item]:
        """Give all that is stored, as a dict of its own."""
        whole: dict[Key, Item] = {}
        for layer in (*reversed(self._below), self._own):
            whole.update(layer)
        return whole

    def fork(self) -> Layers[Key, Item]:
        """Give a mapping with the same content; later writes to either are not seen by the other."""
        if self._own:
            top, below = self._own, self._below
            while below and 2 * len(top) >= len(below[0]):
                top, below = {**below[0], **top}, below[1:]
            self._below = (top, *below)
            self._own = {}
        twin: Layers[Key, Item] = Layers()
        twin._below = self._below
        return twin
