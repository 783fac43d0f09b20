"""Parses a cutout with LibCST."""

from __future__ import annotations

import libcst as cst

from inplace_lint.core.span import Slice
from inplace_lint.driver.runtime_limits import collector_off
from inplace_lint.frontend.from_cst.statements import block
from inplace_lint.frontend.numbering import Tally
from inplace_lint.frontend.slices import Cutout
from inplace_lint.ir import nodes as ir


def lowered(cutout: Cutout, tally: Tally) -> tuple[ir.Stmt, ...]:
    """
    Give the statements of a cutout.

    Raises: SyntaxError, with the line of the file, when LibCST refuses the text.
    """
    return lowered_module(parse(cutout, tally.slice), cutout, tally)


def lowered_module(module: cst.Module, cutout: Cutout, tally: Tally) -> tuple[ir.Stmt, ...]:
    """Give the statements of a parsed cutout, without the `if 1:` that was put above them."""
    statements = module.body
    wrapped = statements[0] if cutout.is_wrapped and statements else None
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
