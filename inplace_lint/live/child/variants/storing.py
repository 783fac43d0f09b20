"""
Rewrites a write to the copy that an index made, so that the indexed tensor gets what was written.

`h[mask][0].mul_(2)` becomes `part = h[mask]; inner = part[0]; inner.mul_(2); part[0] = inner; h[mask] = part`, with
each index evaluated once.
"""

from __future__ import annotations

import ast
from typing import List, Sequence

from .tree import block_of, helper, replaced

_PREFIX = "_inplace_lint_"


def stored(chain: Sequence[ast.AST], written: ast.expr) -> bool:
    """Store back what the statement around a place writes to an indexed copy; false where it writes to none."""
    indices: List[ast.Subscript] = []
    base = written
    while isinstance(base, ast.Subscript):
        indices.insert(0, base)
        base = base.value
    if not indices:
        return False
    block, at = block_of(chain)
    before: List[ast.stmt] = [_bound(_name("part", 0), base)]
    after: List[ast.stmt] = []
    for depth, index in enumerate(indices):
        before.append(_bound(_name("at", depth), _evaluated(index.slice)))
        before.append(_bound(_name("part", depth + 1), _item(depth)))
        after.insert(0, _bound(_item(depth), _name("part", depth + 1)))
    replaced(block[at], written, _name("part", len(indices)))
    block[at : at + 1] = [*before, block[at], *after]
    return True


def _bound(target: ast.expr, value: ast.expr) -> ast.stmt:
    target.ctx = ast.Store()  # type: ignore[attr-defined]
    return ast.Assign([target], value, lineno=1)


def _name(what: str, depth: int) -> ast.expr:
    return ast.Name(f"{_PREFIX}{what}_{depth}", ast.Load())


def _item(depth: int) -> ast.expr:
    return ast.Subscript(_name("part", depth), _name("at", depth), ast.Load())


def _evaluated(index: ast.expr) -> ast.expr:
    """Return an index as a value: outside of brackets, a slice is a call."""
    if isinstance(index, ast.Slice):
        ends = (index.lower, index.upper, index.step)
        return helper("slice", *(end or ast.Constant(None) for end in ends))
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_evaluated(item) for item in index.elts], ast.Load())
    return index
