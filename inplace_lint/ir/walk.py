"""The nodes in statements and expressions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inplace_lint.ir.expressions import Node


def walk(tree: object) -> Iterator[Node]:
    """Yield a node and all nodes in it, or those of a tuple or list of nodes; nothing of what is no node."""
    waiting: list[Any] = list(tree) if isinstance(tree, list) else [tree] if isinstance(tree, tuple) else []
    while waiting:
        part = waiting.pop()
        if type(part) is not tuple:
            yield part
        waiting.extend([inner for inner in part if inner and isinstance(inner, tuple)])
