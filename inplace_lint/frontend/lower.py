"""
Lowers a slice of source text to IR.

    x += 1    ->    AugAssign(at=0, op="+", target=Name(at=1, id="x"), value=Const(value=1))

Nodes get ordinals in the order in which they are met, from the outside in and from left to right. No positions are
computed here: `positions` lowers the slice again, from LibCST, for the few slices that a finding names.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from inplace_lint.core.runtime_limits import collector_off, deep_recursion
from inplace_lint.core.span import Slice
from inplace_lint.frontend.from_ast.statements import block
from inplace_lint.frontend.numbering import Numbering
from inplace_lint.frontend.slices import Cutout, cut
from inplace_lint.ir import nodes as ir


def lower(source: str, slice_: Slice, holes: Sequence[Slice] = ()) -> ir.Code:
    """
    Return the IR of a slice; `holes` are slices inside it that are left out.

    Raises: SyntaxError, with the line of the file, when neither `ast` nor LibCST reads the text; RecursionError.
    """
    cutout = cut(source, slice_, holes)
    numbering = Numbering.of(slice_, cutout.text)
    with deep_recursion():
        body = lower_statements(numbering, cutout, _parsed(cutout, slice_))
    return ir.Code(slice_, body, numbering.size)


def lower_statements(numbering: Numbering, cutout: Cutout, statements: Sequence[ast.stmt]) -> tuple[ir.Stmt, ...]:
    """Return the IR of the statements of a cutout, without the `if 1:` that was put above them."""
    if cutout.is_wrapped and statements and isinstance(statements[0], ast.If):
        statements = statements[0].body
    return block(numbering, statements)


def _parsed(cutout: Cutout, slice_: Slice) -> Sequence[ast.stmt]:
    """Parse a cutout with the running Python, and with LibCST where that refuses it."""
    try:
        with collector_off(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(cutout.text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        from inplace_lint.frontend.from_cst.parse import parse, statements  # noqa: PLC0415 - libcst only where needed

        return statements(parse(cutout, slice_))
