"""Parses a slice with LibCST, and converts it to statements of `ast`."""

from __future__ import annotations

import ast

import libcst as cst

from inplace_lint.core.runtime_limits import collector_off
from inplace_lint.core.span import Slice
from inplace_lint.frontend.from_cst.statements import block
from inplace_lint.frontend.slices import Cutout


def statements(module: cst.Module) -> list[ast.stmt]:
    """Return the statements of a parsed cutout as `ast`, each node with its `origin`."""
    return [made for node in module.body for made in block(node)]


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
