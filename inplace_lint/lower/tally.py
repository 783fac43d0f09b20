"""Counts the nodes of a slice as they are made, and remembers which syntax each came from when asked to."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from inplace_lint.span import Slice


@dataclass(slots=True)
class Tally:
    """
    The ordinals given out so far; `origins` is kept only for computing positions.

    `digest` is that of the slice's text: with an ordinal it names a function by its content.
    """

    slice: Slice
    digest: str = ""
    size: int = 0
    origins: list[cst.CSTNode] | None = None
    names: list[str] = field(default_factory=list)

    def at(self, node: cst.CSTNode) -> int:
        """Give the next ordinal to a node."""
        number = self.size
        self.size = number + 1
        if self.origins is not None:
            self.origins.append(node)
        return number

    def qualname(self, name: str) -> str:
        """Give the qualified name of a definition at this point."""
        return ".".join([*self.names, name])
