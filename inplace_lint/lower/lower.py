"""
Lowers a slice of source text to IR.

A visitor that dispatches on the LibCST node type over semantic fields and never enters whitespace. Nodes get ordinals
in the order in which the visitor meets them, from the outside in and from left to right; no positions are computed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import libcst as cst

from inplace_lint.ir import nodes as ir
from inplace_lint.lower.lines import Cutout, cut
from inplace_lint.lower.statements import block
from inplace_lint.lower.tally import Tally
from inplace_lint.room import collector_off, room_to_recurse
from inplace_lint.span import Slice


def lower(source: str, slice_: Slice, holes: Sequence[Slice] = ()) -> ir.Code:
    """
    Give the IR of a slice; `holes` are slices inside it that are left out.

    Raises: SyntaxError, with the line of the file, when LibCST refuses the text.
    """
    cutout = cut(source, slice_, holes)
    tally = Tally(slice_, hashlib.sha256(cutout.text.encode("utf-8", "surrogatepass")).hexdigest()[:16])
    try:
        with room_to_recurse():
            body = lower_module(parse(cutout, slice_), cutout, tally)
    except RecursionError as error:
        msg = "nested too deeply"
        raise SyntaxError(msg, (slice_.path, slice_.first, 1, None)) from error
    return ir.Code(slice_, body, tally.size)


def lower_module(module: cst.Module, cutout: Cutout, tally: Tally) -> tuple[ir.Stmt, ...]:
    """Give the statements of a parsed cutout, without the `if 1:` that was put above them."""
    statements = module.body
    wrapped = statements[0] if cutout.text.startswith("if 1:\n") and statements else None
    if isinstance(wrapped, cst.If):
        return block(tally, wrapped.body)
    return tuple(statement for node in statements for statement in block(tally, node))


def parse(cutout: Cutout, slice_: Slice) -> cst.Module:
    """
    Parse a cutout, with the garbage collector off: it would walk the growing tree again and again.

    Raises: SyntaxError, with the line of the file.
    """
    try:
        with collector_off():
            return cst.parse_module(cutout.text)
    except cst.ParserSyntaxError as error:
        line = error.raw_line + cutout.offset
        raise SyntaxError(error.message, (slice_.path, line, error.raw_column + 1, None)) from error
    except (RecursionError, ValueError) as error:
        raise SyntaxError(str(error), (slice_.path, slice_.first, 1, None)) from error
