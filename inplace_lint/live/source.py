"""
Source text at a position of a run: the expression, what it writes, and how it is spelled.

A position from Python 3.11 on has columns, and the expression is the one that ends there. An older one has a line
alone; of what is on it the likeliest is taken: of writes an augmented assignment, then one to an item, then a call.
"""

from __future__ import annotations

import ast
from pathlib import Path

from msgspec import Struct

from inplace_lint.core.errors import UnreadableError
from inplace_lint.core.event import Spelling
from inplace_lint.core.source_lines import split_lines
from inplace_lint.core.span import Span
from inplace_lint.live.record import Position
from inplace_lint.workspace import files

Expression = ast.expr | ast.stmt | ast.keyword
_NAMES = (ast.Name, ast.Attribute, ast.Subscript)


class Source(Struct, frozen=True):
    """The text of a file, its tree, and the names that imports bind in it; what cannot be parsed has none of them."""

    path: str
    text: str = ""
    tree: ast.Module | None = None
    imported: frozenset[str] = frozenset()
    lines: tuple[str, ...] = ()
    nodes: tuple[ast.expr | ast.stmt, ...] = ()


def load(path: str) -> Source:
    """Read a file; what cannot be read or parsed any more is empty."""
    name = files.shown(Path(path))
    try:
        text = files.decode(files.read(Path(path)))
        tree = ast.parse(text)
    except (UnreadableError, SyntaxError, ValueError):
        return Source(name)
    nodes = tuple(node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt))
    aliases = [alias for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    imported = frozenset(alias.asname or alias.name.partition(".")[0] for alias in aliases)
    return Source(name, text, tree, imported, split_lines(text), nodes)


def expression_at(source: Source, position: Position, *, writes: bool, name: str = "") -> Expression | None:
    """Return the expression or statement that ran at a position, preferably one that calls `name`."""
    if position.column is None or position.end_column is None or position.end_line is None:
        return _on_line(source, position.line, name, writes=writes)
    start, end = (position.line, position.column), (position.end_line, position.end_column)
    ending = [node for node in source.nodes if (node.end_lineno, node.end_col_offset) == end]
    exact = [node for node in ending if (node.lineno, node.col_offset) == start and not isinstance(node, ast.Expr)]
    # The position of a call of a method over several lines starts at the line of the method's name.
    around = [node for node in ending if (node.lineno, node.col_offset) <= start and isinstance(node, ast.Call)]
    return next(iter(exact or around), None)


def _on_line(source: Source, line: int, name: str, *, writes: bool) -> Expression | None:
    here = [node for node in source.nodes if node.lineno <= line <= (node.end_lineno or node.lineno)]
    here = [node for node in here if not hasattr(node, "body")]
    if writes:
        for node in here:
            if isinstance(node, ast.AugAssign):
                return node
        for node in here:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                return node
    calls = [node for node in here if isinstance(node, ast.Call)]
    named = [node for node in calls if called(node) == name]
    named += [node for node in calls if called(node).endswith("_")] if writes else []
    statements = [node for node in here if isinstance(node, ast.stmt)][-1:]
    chosen: list[Expression] = [*named, *calls, *statements]
    return chosen[0] if chosen else None


def span_of(source: Source, position: Position, node: Expression | None) -> Span:
    """Return the span of an expression, or of the position itself where there is none."""
    if node is not None:
        return _span(source, node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
    if position.column is None or position.end_column is None:
        text = source.lines[position.line - 1].rstrip() if position.line <= len(source.lines) else ""
        indent = len(text) - len(text.lstrip())
        return _span(source, position.line, indent, position.line, len(text.encode()))
    return _span(source, position.line, position.column, position.end_line or position.line, position.end_column)


def _span(source: Source, line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span(source.path, line, _points(source, line, column), end_line, _points(source, end_line, end_column))


def _points(source: Source, line: int, column: int) -> int:
    """Convert a column in bytes into one in code points."""
    text = source.lines[line - 1] if line <= len(source.lines) else ""
    return len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace")) if text else column


def statement_of(source: Source, span: Span) -> tuple[int, int]:
    """Return the first and last line of the smallest statement, or header of one, around a span."""
    best = (span.line, span.end_line)
    least = None
    for node in source.nodes:
        if not isinstance(node, ast.stmt) or not node.lineno <= span.line:
            continue
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
        last = max(last, node.lineno)
        if last >= span.end_line and (least is None or last - node.lineno < least):
            best, least = (node.lineno, last), last - node.lineno
    return best


def flag_in(node: Expression | None) -> Expression | None:
    """Return the argument of a call that carries the flag to write in place; the call itself where none is seen."""
    if not isinstance(node, ast.Call):
        return node
    for keyword in node.keywords:
        if keyword.arg == "inplace":
            return keyword
    flags = [item for item in node.args if isinstance(item, ast.Constant) and item.value is True]
    return flags[-1] if flags else node


def symbol_of(source: Source, node: Expression | None) -> str:
    """Spell what an expression writes; empty where it has no name."""
    match node:
        case ast.AugAssign(target=target):
            return _text(target)
        case ast.Subscript(value=value) | ast.Return(value=value):
            return _text(value)
        case ast.Call(func=func, args=args, keywords=keywords):
            outs = [item.value for item in keywords if item.arg == "out"]
            is_method = isinstance(func, ast.Attribute) and _root(func) not in source.imported
            if is_method and called(node).endswith(("_", "step", "set_value")) and not outs:
                return _text(func.value) if isinstance(func, ast.Attribute) else ""
            return _text(next(iter(outs or args), None))
        case _:
            return ""


def spelling_of(node: Expression | None) -> Spelling:
    """Return how a write is spelled: augmented, item or call."""
    if isinstance(node, ast.AugAssign):
        return Spelling.AUGMENTED
    return Spelling.ITEM if isinstance(node, ast.Subscript) else Spelling.CALL


def called(node: Expression | None) -> str:
    """Return the last part of the name that a call calls; empty for anything else."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr | None) -> str:
    return ast.unparse(node) if isinstance(node, _NAMES) and _root(node) else ""
