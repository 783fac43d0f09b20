"""The names that a piece of syntax reads and binds, for what becomes an `Unknown` of the IR."""

from __future__ import annotations

import ast


def names_in(node: ast.AST) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that an expression or a pattern reads, and those that it binds, each sorted."""
    reads: set[str] = set()
    writes: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Load()):
                reads.add(name)
            case ast.Name(id=name) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                writes.add(name)
            case ast.MatchMapping(rest=str(name)):
                writes.add(name)
            case _:
                pass
    return tuple(sorted(reads)), tuple(sorted(writes))
