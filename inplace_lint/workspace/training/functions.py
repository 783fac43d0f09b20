"""
The functions of a file and what is in them.

    def forward(self, x):
        with torch.no_grad():
            y = self.frozen(x)      # is in `unrecorded_in`, and `y` is one of what is `stored_in` that
        return self.head(y)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from inplace_lint.workspace.training.uses import stops

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions_in(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a file and the methods of its classes, with their qualified names."""
    waiting: list[tuple[str, ast.stmt]] = [("", node) for node in tree.body]
    while waiting:
        prefix, node = waiting.pop()
        if isinstance(node, Function):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            waiting.extend((f"{prefix}{node.name}.", part) for part in node.body)


def within(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a function, without the functions in it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Function):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def unrecorded_in(scope: ast.AST) -> list[ast.AST]:
    """Return the parts of a function that run without recording gradients, as far as it says so itself."""
    if isinstance(scope, Function) and any(map(stops, scope.decorator_list)):
        return [*within(scope)]
    blocks = [node for node in within(scope) if isinstance(node, ast.With | ast.AsyncWith)]
    off = [node for node in blocks if any(stops(item.context_expr) for item in node.items)]
    return [inner for node in off for inner in ast.walk(node)]


def stored_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the variables that some code binds."""
    return (node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def unpacked(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """
    Yield what a statement binds, each with its own part of the value, as far as that is seen.

        curve, (slope, *_) = x, step(x)        # `x`, `step(x)[0]`; what the list gets is any part of `step(x)`
    """
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value
        return
    parts = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else ()
    plain = True  # no list takes any number of parts before
    for place, one in enumerate(target.elts):
        plain = plain and not isinstance(one, ast.Starred)
        if parts and not any(isinstance(part, ast.Starred) for part in (*target.elts, *parts)):
            yield from unpacked(one, parts[place])
        elif plain and isinstance(value, ast.Call):
            yield from unpacked(one, ast.Subscript(value, ast.Constant(place), ast.Load()))
        else:
            yield one, value
