"""Counts the nodes of a slice as they are made, and remembers which syntax each came from when asked to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from inplace_lint.core.span import Slice


@dataclass(slots=True)
class Tally:
    """
    The ordinals given out so far; `origins` is kept only for computing positions.

    `digest` is that of the slice's text: with an ordinal it names a function by its content.
    """

    slice: Slice
    digest: str = ""
    size: int = 0
    origins: list[Any] | None = None
    names: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, slice_: Slice, text: str) -> Tally:
        """Give the tally for the text of a slice, with nothing counted."""
        return cls(slice_, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])

    def at(self, node: object) -> int:
        """Give the next ordinal to a node."""
        number = self.size
        self.size = number + 1
        if self.origins is not None:
            self.origins.append(node)
        return number

    def qualname(self, name: str) -> str:
        """Give the qualified name of a definition at this point."""
        return ".".join([*self.names, name])
