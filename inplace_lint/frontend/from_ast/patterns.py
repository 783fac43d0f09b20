"""Lowers the patterns of `match` of `ast`: as ordinary tests where they can be said so, else as unknowns."""

from __future__ import annotations

import ast

from inplace_lint.frontend import builders
from inplace_lint.frontend.from_ast.expressions import expression, unknown
from inplace_lint.frontend.numbering import Tally
from inplace_lint.ir import nodes as ir


def pattern(tally: Tally, node: ast.pattern, subject: str) -> tuple[ir.Expr | None, tuple[str, ...]]:
    """Give the test of a pattern over the name of the subject, None if it always matches, and the names it captures."""
    match node:
        case ast.MatchValue(value=value):
            at = tally.at(node)
            return ir.Compare(at, ir.Name(at, subject), ("==",), (expression(tally, value),)), ()
        case ast.MatchSingleton(value=constant):
            at = tally.at(node)
            return ir.Compare(at, ir.Name(at, subject), ("is",), (ir.Const(constant),)), ()
        case ast.MatchAs(pattern=None, name=name):
            return None, () if name is None else (name,)
        case ast.MatchAs(pattern=inner, name=name) if inner is not None:
            test, binds = pattern(tally, inner, subject)
            return test, binds if name is None else (*binds, name)
        case ast.MatchOr(patterns=alternatives):
            at = tally.at(node)
            return builders.any_of(at, [pattern(tally, alternative, subject) for alternative in alternatives])
        case ast.MatchClass(cls=cls, patterns=[], kwd_patterns=[]):
            at = tally.at(node)
            arguments = (ir.Name(at, subject), expression(tally, cls))
            return ir.Call(at, ir.Name(at, "isinstance"), arguments, ()), ()
        case _:
            found = unknown(tally, node)
            return found, found.writes
