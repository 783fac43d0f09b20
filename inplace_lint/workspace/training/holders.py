"""
Which names hold what a call made, alone or among others.

    self.layers = nn.ModuleDict({key: Layer() for key in keys})    # `layers` holds layers,
    for key, layer in self.layers.items():                         # and so does `layer`
        x = layer(x)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from inplace_lint.workspace.training.names import layers_with_parameters
from inplace_lint.workspace.training.uses import last_word

_CONTAINERS = ast.List | ast.Tuple | ast.Dict | ast.ListComp | ast.GeneratorExp | ast.DictComp


def parts_of(value: ast.expr) -> Iterator[ast.Call | ast.Name]:
    """Yield the call that a value is, those in lists of it, and the names of lists that it is made of."""
    match value:
        case ast.Call(_, arguments):
            yield value
            for one in arguments:
                inner = one.value if isinstance(one, ast.Starred) else one
                if isinstance(inner, ast.Name | _CONTAINERS):
                    yield from parts_of(inner)
        case ast.Name():
            yield value
        case ast.List(items) | ast.Tuple(items) | ast.Dict(_, items):
            yield from (part for item in items for part in parts_of(item))
        case ast.ListComp(element) | ast.GeneratorExp(element) | ast.DictComp(_, element):
            yield from parts_of(element)
        case _:
            pass


def makes_layer(values: Sequence[ast.expr]) -> bool:
    """Check whether some values are made of a framework's layer that has parameters, as far as names tell."""
    calls = (inner for value in values for inner in ast.walk(value) if isinstance(inner, ast.Call))
    return any(last_word(call.func) in layers_with_parameters() for call in calls)


def items_of(iterable: ast.expr, target: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield the names of what a loop goes through, each with the name of its items."""
    match iterable, target:
        case ast.Call(ast.Name("zip"), lists), ast.Tuple(names):
            for each, name in zip(lists, names, strict=False):
                yield from items_of(each, name)
        case ast.Call(ast.Name("enumerate"), [inner, *_]), ast.Tuple([_, name]):
            yield from items_of(inner, name)
        case ast.Call(ast.Attribute(inner, "items"), []), ast.Tuple([_, name]):
            yield from items_of(inner, name)
        case ast.Call(ast.Attribute(inner, "values"), []), _:
            yield from items_of(inner, target)
        case ast.Call(ast.Name("reversed" | "list" | "tuple"), [inner]), _:
            yield from items_of(inner, target)
        case ast.Name() | ast.Attribute() | ast.Subscript(), ast.Name(name):
            yield called_word(iterable), name
        case _:
            pass


def called_word(node: ast.expr) -> str:
    """Return the last name of what is called, of a list for an item of it, and of what a call calls."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return last_word(node)
