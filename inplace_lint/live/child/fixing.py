"""
The fixed form of a program, made while it is loaded: the flagged write becomes one that leaves the old value alone.

`x += y` becomes `x = x + y`, `x.op_(…)` as a statement becomes `x = x.op(…)`, a flag `inplace=True` becomes
`inplace=False`. Nothing is written to the file. What has no such form is not made up.
"""

from __future__ import annotations

import ast
import importlib.machinery
from typing import Any, NamedTuple, Optional


class Fix(NamedTuple):
    """
    The place of a write in a file.

    Units: lines from 1, columns in bytes of UTF-8 from 0.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


_chosen = []  # type: list[Fix]


def patched(fix: Fix) -> None:
    """Load the file of a fix in its fixed form from here on."""
    _chosen.append(fix)
    loader = importlib.machinery.SourceFileLoader
    original = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        if path != fix.path:
            return original(self, fullname)
        return compiled(self.get_data(path), path)

    loader.get_code = get_code  # type: ignore[method-assign]


def compiled(source: bytes, path: str) -> Any:
    """Compile a file, in its fixed form if there is a fix for it."""
    tree = ast.parse(source, path)
    for fix in _chosen:
        if fix.path == path:
            tree = ast.fix_missing_locations(_Fixer(fix).visit(tree))
    return compile(tree, path, "exec", dont_inherit=True)


def is_fixable(source: str, fix: Fix) -> bool:
    """Say whether a write has a fixed form here."""
    fixer = _Fixer(fix)
    fixer.visit(ast.parse(source))
    return fixer.is_done


class _Fixer(ast.NodeTransformer):
    def __init__(self, fix: Fix) -> None:
        self.fix = fix
        self.is_done = False

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not self._is_it(node) or not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        self.is_done = True
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(old, node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if not self._is_it(call) or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return self.generic_visit(node)
        func = call.func
        if not isinstance(func.value, ast.Name) or not func.attr.endswith("_") or func.attr.endswith("__"):
            return self.generic_visit(node)
        self.is_done = True
        made = ast.Call(ast.Attribute(func.value, func.attr[:-1], ast.Load()), call.args, call.keywords)
        return ast.copy_location(ast.Assign([ast.Name(func.value.id, ast.Store())], made), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        func = node.func
        if self._is_it(node) and isinstance(func, ast.Attribute) and func.attr.endswith("_") and not self.is_done:
            self.is_done = not func.attr.endswith("__")
            func.attr = func.attr[:-1] if self.is_done else func.attr
        for at, item in enumerate(node.args):
            if self._is_it(item) and isinstance(item, ast.Constant) and item.value is True:
                self.is_done = True
                node.args[at] = ast.copy_location(ast.Constant(False), item)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        self.generic_visit(node)
        if self._is_it(node) and isinstance(node.value, ast.Constant) and node.value.value is True:
            self.is_done = True
            node.value = ast.copy_location(ast.Constant(False), node.value)
        return node

    def _is_it(self, node: Any) -> bool:
        place = tuple(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
        return place == tuple(self.fix)[1:]


def fix_at(path: str, place: Optional[Any]) -> Optional[Fix]:
    """Give the fix for a place, where it has one."""
    return None if place is None else Fix(path, *place)
