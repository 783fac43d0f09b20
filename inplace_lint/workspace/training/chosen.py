"""
The variables under which functions are called that are chosen from several.

    project = {1: project_l1, 2: project_l2}[norm]      # `project(x)` may call either of them
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import chain

from inplace_lint.workspace.training.functions import Function, within

_MOST = 8  # variables that are set to each other


class Chosen:
    """The variables of a file that are set to a function, to one of several, or to a part of what holds such."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree

    def under(self, function: str) -> Iterator[tuple[ast.AST, str]]:
        """Yield the variables that may be a function, each with the function or file that it is a variable of."""
        waiting, seen = [function], {function}
        while waiting and len(seen) < _MOST:
            for scope, name in sorted(
                self._by_part.get(waiting.pop(), ()), key=lambda one: (one[1], getattr(one[0], "lineno", 0))
            ):
                yield scope, name
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)

    @cached_property
    def _by_part(self) -> dict[str, set[tuple[ast.AST, str]]]:
        found: dict[str, set[tuple[ast.AST, str]]] = {}
        for scope in (self._tree, *(node for node in ast.walk(self._tree) if isinstance(node, Function))):
            for node in (one for one in within(scope) if isinstance(one, ast.Assign)):
                names = [name.id for target in node.targets for name in _names(target)]
                for part in _parts(node.value):
                    found.setdefault(part, set()).update((scope, name) for name in names)
        return found


def _parts(value: ast.expr) -> Iterator[str]:
    """Yield the names of what a value may be, or holds."""
    match value:
        case ast.Name(name):
            yield name
        case ast.Dict(values=parts) | ast.Tuple(parts) | ast.List(parts):
            yield from chain.from_iterable(map(_parts, parts))
        case ast.IfExp(_, then, orelse):
            yield from chain(_parts(then), _parts(orelse))
        case ast.Subscript(holder):
            yield from _parts(holder)
        case ast.Call(ast.Attribute(holder, "get"), [_, *rest]):
            yield from chain(_parts(holder), *map(_parts, rest))
        case _:
            pass


def _names(target: ast.expr) -> Iterator[ast.Name]:
    return (node for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
