"""
What is put into a container whose parts are called one after the other, and what comes before each part there.

    layers = [Conv()]
    for _ in range(depth):
        layers += [Block()]                 # before a block come `Conv()`, and the block of the turn before
    self.body = nn.Sequential(*layers)      # so that what these return is passed to it

A part that is put in under a condition comes before those under the same condition only.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from inplace_lint.workspace.training.names import chains
from inplace_lint.workspace.training.uses import last_word

_ADDING = frozenset({"append", "extend", "add_module", "add_sublayer"})
_Path = tuple[tuple[int, str], ...]  # the conditions around a statement, each with its side


class Part(NamedTuple):
    """A part of a container; `before` are the parts that come before it, the nearest first."""

    node: ast.expr
    before: tuple[ast.expr, ...]


def parts_in(scope: ast.AST) -> Iterator[Part]:
    """Yield the parts of the containers that a function makes whose parts are called one after the other."""
    added: dict[str, list[tuple[ast.expr, _Path]]] = {}
    called = set[str]()
    for statement, path in _statements(getattr(scope, "body", []), ()):
        for name, parts in _put(statement):
            known = added.setdefault(name, [])
            if isinstance(statement, ast.Assign | ast.AnnAssign) and not path:
                known.clear()
            known.extend((part, path) for part in parts)
        for call in _chains_of(statement):
            called |= {ast.unparse(one.value) for one in call.args if isinstance(one, ast.Starred)}
            called |= {ast.unparse(target) for target in _targets(statement)}
            yield from _ordered([(part, ()) for part in _items(call.args)])
    for name in sorted(called & set(added)):
        yield from _ordered(added[name])


def _ordered(parts: Sequence[tuple[ast.expr, _Path]]) -> Iterator[Part]:
    for number, (node, path) in enumerate(parts):
        yield Part(node, tuple(one for one, where in reversed(parts[:number]) if path[: len(where)] == where))


def _statements(body: Sequence[ast.stmt], path: _Path) -> Iterator[tuple[ast.stmt, _Path]]:
    """Yield the statements of a block in the order in which they run, those of a loop twice."""
    for node in body:
        match node:
            case ast.For(_, _, inner, after) | ast.While(_, inner, after):
                yield from _statements([*inner, *inner, *after], path)
            case ast.With(_, inner) | ast.AsyncWith(_, inner):
                yield from _statements(inner, path)
            case ast.If(_, inner, other):
                yield from _statements(inner, (*path, (id(node), "body")))
                yield from _statements(other, (*path, (id(node), "orelse")))
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() | ast.Return():
                yield node, path
            case _:
                pass


def _put(node: ast.stmt) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield the names of lists and containers into which a statement puts parts, with these."""
    match node:
        case ast.Assign(targets, ast.List(items)):
            yield from ((ast.unparse(target), [*_items(items)]) for target in targets)
        case ast.AnnAssign(target, _, ast.List(items)) | ast.AugAssign(target, ast.Add(), ast.List(items)):
            yield ast.unparse(target), [*_items(items)]
        case ast.Assign([target], ast.Call(_, arguments) as call) if _is_chain(call):
            yield ast.unparse(target), [*_items(arguments)]
        case ast.Expr(ast.Call(ast.Attribute(of, name), [*_, part])) if name in _ADDING:
            yield ast.unparse(of), [*_items([part])]
        case _:
            pass


def _items(values: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """Yield what some arguments or items put into a container: those of lists in them, of a repeated one twice."""
    for value in values:
        match value:
            case ast.Starred(inner):
                yield from _items([inner]) if not isinstance(inner, ast.Name | ast.Attribute) else ()
            case ast.List(items):
                yield from _items(items)
            case ast.Call(function, [ast.List(pairs)]) if last_word(function) == OrderedDict.__name__:
                yield from _items([pair.elts[-1] for pair in pairs if isinstance(pair, ast.Tuple) and pair.elts])
            case ast.ListComp(element) | ast.GeneratorExp(element):
                yield from _items([element, element])
            case _:
                yield value


def _chains_of(node: ast.stmt) -> Iterator[ast.Call]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Call) and _is_chain(one))


def _is_chain(call: ast.Call) -> bool:
    return last_word(call.func) in chains()


def _targets(node: ast.stmt) -> Sequence[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else ()
