"""
What annotations say that are written as texts, as is done for classes that are imported or defined later.

    def __init__(self, rope: "Rope | None" = None, norm: Optional["Norm"] = None): ...
"""

from __future__ import annotations

import ast


def written(annotation: ast.expr | None) -> ast.expr | None:
    """Return an annotation with the expressions that its texts are, alone or beside None, in place of these."""
    match annotation:
        case ast.Constant(str(text)):
            return _parsed(text) or annotation
        case ast.Subscript(ast.Name("Optional") | ast.Attribute(_, "Optional") as outer, ast.Constant(str(text)), load):
            inner = _parsed(text)
            return ast.Subscript(outer, inner, load) if inner is not None else annotation
        case _:
            return annotation


def _parsed(text: str) -> ast.expr | None:
    """Return the expression that a text is; None if it is no expression."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
