"""Smaller programs with the same disagreement: statements are taken away, and blocks opened, as long as it stays."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator


def shrink(program: str, stays: Callable[[str], bool]) -> str:
    """Give a program from which no statement can be taken away without losing what `stays` sees."""
    tree = ast.parse(program)
    again = True
    while again:
        again = False
        for smaller in _smaller(tree):
            text = ast.unparse(smaller) + "\n"
            if stays(text):
                tree, again = ast.parse(text), True
                break
    return ast.unparse(tree) + "\n"


def _smaller(tree: ast.Module) -> Iterator[ast.Module]:
    """Give each tree that is one step smaller, later statements first: what they need is taken away after them."""
    places = [
        (number, field, place)
        for number, node in enumerate(ast.walk(tree))
        for field in ("body", "orelse")
        if isinstance(block := getattr(node, field, None), list)
        for place in range(len(block))
    ]
    for number, field, place in reversed(places):
        for opened in (False, True):
            copied = copy.deepcopy(tree)
            owner = next(node for count, node in enumerate(ast.walk(copied)) if count == number)
            block = getattr(owner, field)
            inner = getattr(block[place], "body", None) if opened else []
            if inner is None or (isinstance(block[place], ast.FunctionDef | ast.ClassDef) and opened):
                continue
            block[place : place + 1] = inner
            if not block and field == "body" and not isinstance(owner, ast.Module):
                block.append(ast.Pass())
                if not opened and isinstance(getattr(tree, "body", None), list) and _was_pass(tree, number, place):
                    continue
            yield copied
    for number, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.BinOp | ast.Call | ast.UnaryOp) and not isinstance(node, ast.Expr):
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    yield _replaced(tree, number, part)
                elif isinstance(part, ast.Attribute):
                    yield _replaced(tree, number, part.value)


def _was_pass(tree: ast.Module, number: int, place: int) -> bool:
    owner = next(node for count, node in enumerate(ast.walk(tree)) if count == number)
    return isinstance(owner.body[place], ast.Pass)


def _replaced(tree: ast.Module, number: int, part: ast.expr) -> ast.Module:
    """Give the tree with one expression in place of the one that holds it."""
    copied = copy.deepcopy(tree)
    target = next(node for count, node in enumerate(ast.walk(copied)) if count == number)
    for node in ast.walk(copied):
        for field, value in ast.iter_fields(node):
            if value is target:
                setattr(node, field, copy.deepcopy(part))
            elif isinstance(value, list):
                setattr(node, field, [copy.deepcopy(part) if item is target else item for item in value])
    return copied
