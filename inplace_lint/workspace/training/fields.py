"""
What a file stores under the keys of mappings and in the attributes of records.

    class Tracks(Dataset):
        def __getitem__(self, index):
            return {"track": torch.from_numpy(self.rows[index])}     # data, as all that a data set stores

    class Net(nn.Module):
        def forward(self, batch):
            batch["feature"] = self.embed(batch["track"])            # trained
            return Record(feature=batch["feature"])                  # made of what is stored under the same key

Keys and attributes are one thing: what is read as `batch.track` may have been stored as `batch["track"]`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from inplace_lint.knowledge.facts import framework, frameworks
from inplace_lint.workspace.training.functions import Function, within
from inplace_lint.workspace.training.uses import last_word

ROWS = "__getitem__"  # the method that makes a class a data set
_ASKING = frozenset({"backward", "grad"})


class Stored(NamedTuple):
    """A value that is stored: where, and whether a data set does that, or a module that may compute it in a call."""

    value: ast.expr
    scope: ast.AST
    by_data_set: bool
    by_module: bool


class Stores:
    """
    The values that a file stores, by the key or attribute.

    `trains`: it defines a module, or runs a backward.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.trains = any(map(_trains, ast.walk(tree)))
        self._found: dict[str, list[Stored]] = {}
        waiting: list[tuple[ast.AST, ast.ClassDef | None]] = [(tree, None)]
        while waiting:
            scope, cls = waiting.pop()
            data, module = cls is not None and _is_data_set(cls), cls is not None and _is_module(cls)
            for node in within(scope):
                for name, value in _stored(node, module=module):
                    self._found.setdefault(name, []).append(Stored(value, scope, data, module))
            waiting.extend(_inner(scope, cls))

    def of(self, name: str) -> list[Stored]:
        """Return what is stored under a key, or in an attribute of this name."""
        return self._found.get(name, [])


def _inner(scope: ast.AST, cls: ast.ClassDef | None) -> Iterator[tuple[ast.AST, ast.ClassDef | None]]:
    """Yield the functions in a scope, each with the class around it."""
    waiting = [(node, cls) for node in ast.iter_child_nodes(scope)]
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, Function):
            yield node, around
        else:
            own = node if isinstance(node, ast.ClassDef) else around
            waiting.extend((part, own) for part in ast.iter_child_nodes(node))


def _stored(node: ast.AST, *, module: bool) -> Iterator[tuple[str, ast.expr]]:
    """Yield the keys and attributes that a statement or expression stores, with the values."""
    match node:
        case ast.Assign(targets, value):
            for target in targets:
                yield from _into(target, value, module=module)
        case ast.AnnAssign(target, _, ast.expr() as value) | ast.AugAssign(target, _, value):
            yield from _into(target, value, module=module)
        case ast.Dict(keys, values):
            for key, value in zip(keys, values, strict=True):
                yield from _under(key, value)
        case ast.Call(ast.Name("setattr"), [_, key, value]):
            yield from _under(key, value)
        case ast.Call(function, _, keywords) if _makes_record(function):
            yield from ((one.arg, one.value) for one in keywords if one.arg)
        case _:
            pass


def _into(target: ast.expr, value: ast.expr, *, module: bool) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case (ast.Tuple(targets) | ast.List(targets), ast.Tuple(values)) if len(targets) == len(values):
            for one, part in zip(targets, values, strict=True):
                yield from _into(one, part, module=module)
        case ast.Tuple(targets) | ast.List(targets), _:
            for one in targets:
                yield from _into(one, value, module=module)
        case ast.Subscript(_, key), _:
            yield from _under(key, value)
        case ast.Attribute(owner, name), _ if not (module and last_word(owner) == "self"):
            yield name, value  # a module is no record of data
        case _:
            pass


def _under(key: ast.expr | None, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        yield key.value, value


def _makes_record(function: ast.expr) -> bool:
    """Check whether a call with keywords makes a mapping or an object, by how classes are spelled."""
    word = last_word(function)
    return word in {"dict", "update"} or word[:1].isupper()


def _is_data_set(cls: ast.ClassDef) -> bool:
    """Check whether a class derives from a framework's data sets, or has rows and is no module."""
    methods = {node.name for node in cls.body if isinstance(node, Function)}
    return not data_sets().isdisjoint(map(last_word, cls.bases)) or (ROWS in methods and not _is_module(cls))


def _trains(node: ast.AST) -> bool:
    match node:
        case ast.ClassDef():
            return _is_module(node)
        case ast.Call(function):
            return last_word(function) in _ASKING
        case _:
            return False


def _is_module(cls: ast.ClassDef) -> bool:
    methods = {node.name for node in cls.body if isinstance(node, Function)}
    return any(framework(known).calls in methods for known in frameworks())


@cache
def data_sets() -> frozenset[str]:
    """Return the last names of the frameworks' classes of data sets."""
    return frozenset(name.rpartition(".")[2] for known in frameworks() for name in framework(known).datasets)
