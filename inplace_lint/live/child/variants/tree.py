"""Places in the tree of a program, and the parts that its variants are made of."""

from __future__ import annotations

import ast
import copy
from typing import Any, Iterator, List, NamedTuple, Sequence, Tuple, Union

HELPER = "_inplace_lint_forms"  # a builtin while forms are compared
NAMES = (ast.Name, ast.Attribute, ast.Subscript)
MADE = (ast.Call, ast.Await, ast.Yield, ast.NamedExpr)  # what may have another value when it is evaluated again


class Place(NamedTuple):
    """
    The position of an expression or statement.

    Units: lines from 1, columns in bytes of UTF-8 from 0.
    """

    line: int
    column: int
    end_line: int
    end_column: int


def chain_of(tree: ast.AST, place: Place) -> List[ast.AST]:
    """Return the innermost node at a place and all nodes around it, the outermost first."""
    found: List[ast.AST] = []
    chain = [tree]
    while chain:
        inner = next((node for node in ast.iter_child_nodes(chain[-1]) if _holds(node, place)), None)
        if inner is None:
            return found
        chain.append(inner)
        if _span(inner) == tuple(place):
            found = list(chain)
    return found


def _span(node: ast.AST) -> Tuple[Any, ...]:
    return tuple(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))


def _holds(node: ast.AST, place: Place) -> bool:
    line, column, end_line, end_column = _span(node)
    if line is None:  # operators and `arguments` have no position
        return any(_holds(inner, place) for inner in ast.iter_child_nodes(node))
    decorated = min([line, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    starts = (decorated, 0 if decorated < line else column) <= place[:2]
    return bool(starts and place[2:] <= (end_line, end_column))


def block_of(chain: Sequence[ast.AST]) -> Tuple[List[ast.stmt], int]:
    """Return the block around the innermost statement of a chain, and the index of the statement there."""
    at = max(number for number, node in enumerate(chain) if isinstance(node, ast.stmt))
    statement = chain[at]
    for block in _blocks(chain[at - 1]):
        for number, item in enumerate(block):
            if item is statement:
                return block, number
    msg = "a statement stands in no block"
    raise ValueError(msg)


def _blocks(node: ast.AST) -> Iterator[List[Any]]:
    for _, value in ast.iter_fields(node):
        if isinstance(value, list):
            yield value


def replaced(root: ast.AST, old: ast.AST, new: ast.AST) -> bool:
    """Put a node in the place of another one below a root; return whether that one is there."""
    for parent in ast.walk(root):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
                return True
            if isinstance(value, list) and any(item is old for item in value):
                value[:] = [new if item is old else item for item in value]
                return True
    return False


def as_context(node: Any, context: Union[ast.Load, ast.Store]) -> Any:
    """Return a copy of a name that is read or bound."""
    found = copy.deepcopy(node)
    found.ctx = context
    return found


def helper(what: str, *arguments: ast.expr) -> ast.Call:
    """Return a call of a function of `Forms`."""
    return ast.Call(ast.Attribute(ast.Name(HELPER, ast.Load()), what, ast.Load()), list(arguments), [])
