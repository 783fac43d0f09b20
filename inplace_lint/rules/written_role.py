"""
What becomes of the tensor that a write changes, as its text shows: whether a new one under the same name replaces it.

    y += 1                      # a new `y` does
    return y.add_(1)            # the value of the call is used: a new tensor is that
    for row in rows:
        row += 1                # a new `row` is in no list
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from enum import Enum, auto
from functools import lru_cache

from inplace_lint.core.span import Span

_Parents = Mapping[ast.AST, ast.AST]
_Place = tuple[int, int, int | None, int | None]


class Role(Enum):
    """What a write is to the program around it."""

    NAMED = auto()  # a new tensor may have its name
    VALUE = auto()  # its value is used
    LOST = auto()  # a new tensor of its name is read by nobody, or cannot have its name


def of(source: str, span: Span) -> Role:
    """Return what the write with a span is; `NAMED` where the text cannot be parsed."""
    # IMPRECISE: columns of `ast` are those of bytes, so that a write behind other characters is not found.
    parents, places = _parsed(source)
    node = places.get((span.line, span.column, span.end_line, span.end_column))
    if node is None:
        return Role.NAMED
    written = node.target if isinstance(node, ast.AugAssign) else node.func
    if isinstance(node, ast.Call):
        written = written.value if isinstance(written, ast.Attribute) else written
        if not _is_statement(parents, node, written):
            return Role.LOST if _is_needed_besides(parents, node, written) else Role.VALUE
    lost = isinstance(written, ast.Name) and (
        _is_lost(parents, node, written.id) or _is_foreign(parents, node, written.id)
    )
    return Role.LOST if lost else Role.NAMED


@lru_cache(maxsize=2)
def _parsed(source: str) -> tuple[_Parents, Mapping[_Place, ast.Call | ast.AugAssign]]:
    """Return the nodes of a text, each with the one that it is in, and its writes by where they stand."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}, {}
    parents = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    writes = [node for node in parents if isinstance(node, ast.Call | ast.AugAssign)]
    return parents, {(one.lineno, one.col_offset, one.end_lineno, one.end_col_offset): one for one in reversed(writes)}


def _is_statement(parents: _Parents, node: ast.AST, written: ast.expr) -> bool:
    """Check whether nothing has the value of a call but the name of what it writes: `flag and y.add_(1)`."""
    above = parents[node]
    while isinstance(above, ast.BoolOp):
        above = parents[above]
    if isinstance(above, ast.Assign) and above.value is node:
        return [ast.dump(one) for one in above.targets] == [ast.dump(written).replace("Load()", "Store()")]
    return isinstance(above, ast.Expr)


def _is_needed_besides(parents: _Parents, node: ast.AST, written: ast.expr) -> bool:
    """Check whether nothing has the value of a call in an expression, or its variable is read later as well."""
    above = parents[node]
    while isinstance(above, ast.ListComp | ast.IfExp | ast.Tuple | ast.List | ast.BoolOp):
        above = parents[above]
    return isinstance(above, ast.Expr) or (isinstance(written, ast.Name) and _is_read_later(parents, node, written.id))


def _is_read_later(parents: _Parents, node: ast.AST, name: str) -> bool:
    """Check whether a variable of a function or file, not one of an expression, is read behind a write."""
    above = parents.get(node)
    while isinstance(above, ast.expr | ast.comprehension):
        if _binds(above, name):
            return False
        above = parents.get(above)
    scope = _scope(parents, node)
    return scope is not None and _reads_behind(scope, node, name)


def _scope(parents: _Parents, node: ast.AST) -> ast.AST | None:
    """Return the function that a node is in, or its file."""
    above = parents.get(node)
    while above is not None and not isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        above = parents.get(above)
    return above


def _is_foreign(parents: _Parents, node: ast.AST, name: str) -> bool:
    """Check whether a function reads a variable from outside, to which it cannot assign."""
    scope = _scope(parents, node)
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    parts = list(ast.walk(scope))
    given = any(isinstance(one, ast.arg) and one.arg == name for one in parts)
    bound = any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store) for one in parts)
    declared = any(isinstance(one, ast.Global | ast.Nonlocal) and name in one.names for one in parts)
    return not (given or bound or declared)


def _is_lost(parents: _Parents, node: ast.AST, name: str) -> bool:
    """Check whether a name is what a loop or a caller gives, and is read nowhere behind the write."""
    above = parents.get(node)
    while above is not None:
        if isinstance(above, ast.For) and name in _names(above.target):
            return not _reads_behind(above, node, name)
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            given = {one.arg for one in (*above.args.posonlyargs, *above.args.args, *above.args.kwonlyargs)}
            return name in given and not _reads_behind(above, node, name)
        above = parents.get(above)
    return False


def _binds(node: ast.AST, name: str) -> bool:
    """Check whether an expression has a variable of its own."""
    if isinstance(node, ast.Lambda):
        return any(part.arg == name for part in ast.walk(node.args) if isinstance(part, ast.arg))
    return any(name in _names(part.target) for part in getattr(node, "generators", ()))


def _names(tree: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)}


def _reads_behind(scope: ast.AST, node: ast.AST, name: str) -> bool:
    """Check whether a name is read behind a write, or anywhere in a loop inside of its scope around the write."""
    loops = [one for one in ast.walk(scope) if isinstance(one, ast.For | ast.While) and one is not scope]
    around = [one for one in loops if any(part is node for part in ast.walk(one))]
    parts = [part for part in ast.walk(scope) if isinstance(part, ast.expr) and part.lineno >= _last(node)]
    parts += [part for loop in around for part in ast.walk(loop) if isinstance(part, ast.expr)]
    apart = [one for one in ast.walk(scope) if isinstance(one, ast.expr) and _binds(one, name)]
    own = {id(part) for one in (node, *apart) for part in ast.walk(one)}
    return any(isinstance(part, ast.Name) and part.id == name and id(part) not in own for part in parts)


def _last(node: ast.AST) -> int:
    return max(part.end_lineno or 0 for part in ast.walk(node) if isinstance(part, ast.expr))
