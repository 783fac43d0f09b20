"""Numbers the nodes of a slice as the IR is built; a node's number and its slice are its `Place`."""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec import Struct, field

from inplace_lint.core.span import Slice


class Numbering(Struct):
    """
    The count of ordinals so far, and the names of the definitions around the current one.

    `origins` holds the syntax node of each ordinal where positions are wanted, otherwise it is None. `digest` is that
    of the text of the slice: with an ordinal it identifies a function by its content.
    """

    slice: Slice
    digest: str = ""
    size: int = 0
    origins: list[Any] | None = None
    names: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, slice_: Slice, text: str) -> Numbering:
        """Return the numbering for the text of a slice, at zero."""
        return cls(slice_, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])

    def at(self, node: object) -> int:
        """Return the next ordinal, which is then that of the node."""
        number = self.size
        self.size = number + 1
        if self.origins is not None:
            self.origins.append(node)
        return number

    def qualname(self, name: str) -> str:
        """Return the qualified name of a definition at this point."""
        return ".".join([*self.names, name])
