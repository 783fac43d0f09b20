"""
The fixed form of a program, made while it is loaded: the flagged write becomes one that leaves the old value alone.

`x += y` becomes `x = x + y`, `x.op_(…)` as a statement becomes `x = x.op(…)`, a flag `inplace=True` becomes
`inplace=False`. Nothing is written to the file. What has no such form is not made up.

Where numbers are compared, both forms go without `assert`: what it states may be the number that is wrong.
"""

from __future__ import annotations

import ast
import importlib.machinery
from typing import Any, Dict, NamedTuple, Optional


class Fix(NamedTuple):
    """
    The place of a write.

    Units: lines from 1, columns in bytes of UTF-8 from 0.
    """

    line: int
    column: int
    end_line: int
    end_column: int


_forms: Dict[str, Optional[Fix]] = {}


def patched(path: str, fix: Optional[Fix]) -> None:
    """Load a file without its asserts from here on, and in its fixed form if there is a fix."""
    _forms[path] = fix
    loader = importlib.machinery.SourceFileLoader
    original = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        if path not in _forms:
            return original(self, fullname)
        return compiled(self.get_data(path), path)

    loader.get_code = get_code  # type: ignore[method-assign]


def compiled(source: bytes, path: str) -> Any:
    """Compile a file, in its fixed form if there is a fix for it."""
    tree = ast.parse(source, path)
    fix = _forms.get(path)
    if fix is not None:
        tree = ast.fix_missing_locations(_Fixer(fix).visit(tree))
    return compile(tree, path, "exec", dont_inherit=True, optimize=1 if path in _forms else -1)


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
        return place == tuple(self.fix)
