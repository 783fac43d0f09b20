"""
Lowers a slice of source text to IR.

Nodes get ordinals in the order in which they are met, from the outside in and from left to right; no positions are
computed. Two front ends give the same IR, ordinals included: `abstract` reads with Python's own `ast` and is nine times
as fast, `concrete` reads with LibCST what the running Python cannot, and is asked for positions.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from inplace_lint.core.span import Slice
from inplace_lint.driver.runtime_limits import collector_off, room_to_recurse
from inplace_lint.frontend.from_ast.statements import block
from inplace_lint.frontend.numbering import Tally
from inplace_lint.frontend.slices import Cutout, cut
from inplace_lint.ir import nodes as ir


def lower(source: str, slice_: Slice, holes: Sequence[Slice] = ()) -> ir.Code:
    """
    Give the IR of a slice; `holes` are slices inside it that are left out.

    Raises: SyntaxError, with the line of the file, when neither `ast` nor LibCST reads the text.
    """
    cutout = cut(source, slice_, holes)
    tally = Tally.of(slice_, cutout.text)
    try:
        with room_to_recurse():
            body = _lowered(cutout, tally)
    except RecursionError as error:
        msg = "nested too deeply"
        raise SyntaxError(msg, (slice_.path, slice_.first, 1, None)) from error
    return ir.Code(slice_, body, tally.size)


def _lowered(cutout: Cutout, tally: Tally) -> tuple[ir.Stmt, ...]:
    statements = _parsed(cutout.text)
    if statements is None:
        from inplace_lint.frontend.from_cst.parse import lowered  # noqa: PLC0415 - libcst only where it is needed

        return lowered(cutout, tally)
    if cutout.is_wrapped and statements and isinstance(statements[0], ast.If):
        statements = statements[0].body
    return block(tally, statements)


def _parsed(text: str) -> Sequence[ast.stmt] | None:
    """Give the statements of a text; None where the running Python does not read it."""
    try:
        with collector_off(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
