"""
Tensors that a function makes from nothing and writes before anything reads them: what it writes is nobody else's.

    mask = x.new_empty(shape).bernoulli_(keep)
    mask.div_(keep)
    return x * mask
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

FACTORIES = frozenset(
    {
        "arange",
        "empty",
        "empty_like",
        "eye",
        "full",
        "full_like",
        "linspace",
        "new_empty",
        "new_full",
        "new_ones",
        "new_zeros",
        "ones",
        "ones_like",
        "rand",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "randperm",
        "zeros",
        "zeros_like",
    }
)
_LIBRARIES = frozenset({"numpy", "np", "paddle", "torch"})
_Position = tuple[int, int, int]


def is_fresh(value: ast.AST) -> bool:
    """Return whether an expression makes a tensor from nothing; in-place calls on such a tensor return the same one."""
    match value:
        case ast.Call(ast.Attribute(ast.Name(library), name)) if library in _LIBRARIES:
            return name in FACTORIES
        case ast.Call(ast.Attribute(holder, name)):
            return (name in FACTORIES and name.startswith("new_")) or (_is_inplace(name) and is_fresh(holder))
        case _:
            return False


def is_own(root: ast.AST, name: str) -> bool:
    """Return whether a variable holds a fresh tensor wherever it is written, which nothing has read before."""
    writes: list[_Position] = []
    reads: list[_Position] = []
    for node in ast.walk(root):
        if isinstance(node, ast.For | ast.AsyncFor | ast.While) and _is_carried(node, name):
            return False
        if isinstance(node, ast.arg) and node.arg == name:
            return False
        if not isinstance(node, ast.stmt):
            continue
        written = _written(node, name)
        if written is not None:
            writes.append((node.lineno, node.col_offset, 1))
        if isinstance(node, _COMPOUND):
            found = [(part.lineno, part.col_offset, 0) for part in _uses(_header(node), name)]
        else:
            fresh = isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_fresh(node.value)
            uses = [use for use in _uses([node], name) if use is not written]
            # Once the name is bound to a value that is not fresh, a write to it may be seen elsewhere.
            found = [
                (node.lineno, node.col_offset, 0) for use in uses if not (fresh and isinstance(use.ctx, ast.Store))
            ]
        reads.extend(found)
    return not writes or not reads or max(writes) < min(reads)


_COMPOUND = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Match,
)


def _header(node: ast.stmt) -> Iterator[ast.AST]:
    """Return the expressions of a compound statement that belong to none of its blocks."""
    return (part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt | ast.excepthandler))


def _uses(parts: Iterable[ast.AST], name: str) -> list[ast.Name]:
    return [node for part in parts for node in ast.walk(part) if isinstance(node, ast.Name) and node.id == name]


def _written(node: ast.stmt, name: str) -> ast.AST | None:
    """Return the node of a name where a statement writes what the variable holds, and does nothing else with it."""
    match node:
        case ast.AugAssign(ast.Name(written) as target) if written == name:
            return target
        case ast.AugAssign(ast.Subscript(ast.Name(written) as target)) if written == name:
            return target
        case ast.Assign([ast.Subscript(ast.Name(written) as target)]) if written == name:
            return target
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(written) as target, op))) if written == name and _is_inplace(op):
            return target
        case _:
            return None


def _is_carried(loop: ast.For | ast.AsyncFor | ast.While, name: str) -> bool:
    """Return whether a loop writes and reads what a variable held before the current turn."""
    inner = [node for part in loop.body for node in ast.walk(part)]
    written = [_written(node, name) for node in inner if isinstance(node, ast.stmt)]
    targets = [target for target in written if target is not None]
    others = [use for use in _uses(loop.body, name) if use not in targets]
    return bool(targets) and bool(others) and not any(isinstance(use.ctx, ast.Store) for use in others)


def _is_inplace(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")
