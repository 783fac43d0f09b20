"""
Loads a program in a changed form; its file is not changed.

No variant whose numbers are compared ends at an `assert`: what it tests may be the number that is wrong.
"""

from __future__ import annotations

import ast
import importlib.machinery
from typing import Any, Dict, NamedTuple, Sequence, Tuple

from .rewrite import Form, reformed, written_by
from .tree import MADE, NAMES, Place, as_context, block_of, chain_of, helper

_LATER = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Change(NamedTuple):
    """
    What becomes of a file: a variant, and numbered places that tell when they run.

    `is_compared`: no assert ends it.
    """

    forms: Tuple[Form, ...] = ()
    lines: Tuple[Tuple[int, Place], ...] = ()
    is_compared: bool = False


_changes: Dict[str, Change] = {}


def patched(path: str, change: Change) -> None:
    """From now on, load a file with a change."""
    _changes[path] = change
    loader = importlib.machinery.SourceFileLoader
    original = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        if path not in _changes:
            return original(self, fullname)
        return compiled(self.get_data(path), path)

    loader.get_code = get_code  # type: ignore[method-assign]


def compiled(source: bytes, path: str) -> Any:
    """Compile a file, with its change if it has one."""
    tree = ast.parse(source, path)
    change = _changes.get(path, Change())
    for number, place in change.lines:
        _tell(chain_of(tree, place), number)
    reformed(tree, change.forms)
    if change.is_compared:
        tree = _Unasserted().visit(tree)
    tree = ast.fix_missing_locations(tree)
    return compile(tree, path, "exec", dont_inherit=True)


def _tell(chain: Sequence[ast.AST], number: int) -> None:
    """Tell when a statement is about to run, and when it ended, where the place in it then runs for certain."""
    inner = list(chain)
    while inner and not isinstance(inner[-1], ast.stmt):
        if isinstance(inner.pop(), _LATER):
            return
    if inner:
        block, at = block_of(chain)
        line = block[at].lineno  # an empty span, in which no place of a form is found
        written = written_by(chain[-1], chain[0])
        is_name = isinstance(written, NAMES) and not any(isinstance(part, MADE) for part in ast.walk(written))
        values = [as_context(written, ast.Load())] if is_name else []
        for index, what, more in ((at + 1, "left", values), (at, "reached", [])):
            told = ast.Expr(helper(what, ast.Constant(number), *more), lineno=line, col_offset=0)
            told.end_lineno, told.end_col_offset = line, 0
            block.insert(index, told)


class _Unasserted(ast.NodeTransformer):
    """Replaces each assert by an evaluation of its test that records what is compared and ignores the result."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        for item in ast.walk(node.test):
            if isinstance(item, ast.Compare):
                item.left = helper("seen", item.left, ast.Constant(node.lineno))
        nothing = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])
        told = ast.Expr(helper("asserted", node.test, ast.Constant(node.lineno)))
        return ast.copy_location(ast.Try([told], [nothing], [], []), node)
