"""Smaller programs with the same disagreement: statements are taken away, and calls opened, as long as it stays."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator


def shrink(program: str, stays: Callable[[str], bool]) -> str:
    """Give a program from which no statement can be taken away without losing what `stays` sees."""
    tree = ast.parse(program)
    while True:
        smaller = next((text for text in map(ast.unparse, _smaller(tree)) if stays(text + "\n")), None)
        if smaller is None:
            return ast.unparse(tree) + "\n"
        tree = ast.parse(smaller)


def _smaller(tree: ast.Module) -> Iterator[ast.Module]:
    """Give each tree that is one step smaller, later statements first: what they need is taken away after them."""
    nodes = list(enumerate(ast.walk(tree)))
    for number, node in reversed(nodes):
        for field in ("body", "orelse"):
            for place in reversed(range(len(_block(node, field)))):
                yield from _without(tree, number, field, place)
    for number, node in nodes:
        if isinstance(node, ast.BinOp | ast.Call | ast.UnaryOp):
            parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
            parts = [part.value if isinstance(part, ast.Attribute) else part for part in parts]
            yield from (_replaced(tree, number, part) for part in parts)


def _block(node: ast.AST, field: str) -> list[ast.stmt]:
    block = getattr(node, field, None)
    return block if isinstance(block, list) else []


def _without(tree: ast.Module, number: int, field: str, place: int) -> Iterator[ast.Module]:
    """Give the tree without one statement, and with what stands inside it in its place."""
    gone = _block(list(ast.walk(tree))[number], field)[place]
    opened = [] if isinstance(gone, ast.FunctionDef | ast.ClassDef) else _block(gone, "body")
    for instead in ([], opened) if opened else ([],):
        copied = copy.deepcopy(tree)
        block = _block(list(ast.walk(copied))[number], field)
        block[place : place + 1] = instead
        if not block and field == "body" and isinstance(gone, ast.Pass):
            return
        if not block and field == "body":
            block.append(ast.Pass())
        yield copied


def _replaced(tree: ast.Module, number: int, part: ast.expr) -> ast.Module:
    """Give the tree with one expression in place of the one that holds it."""
    copied = copy.deepcopy(tree)
    target = list(ast.walk(copied))[number]
    for node in ast.walk(copied):
        for field, value in ast.iter_fields(node):
            if value is target:
                setattr(node, field, copy.deepcopy(part))
            elif isinstance(value, list):
                setattr(node, field, [copy.deepcopy(part) if item is target else item for item in value])
    return copied
