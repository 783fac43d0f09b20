"""Lowers the patterns of `match` of `ast`: as ordinary tests where they can be said so, else as unknowns."""

from __future__ import annotations

import ast

from inplace_lint.ir import nodes as ir
from inplace_lint.lower.abstract.expressions import expression, unknown
from inplace_lint.lower.tally import Tally


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
            return _any(tally, node, alternatives, subject)
        case ast.MatchClass(cls=cls, patterns=[], kwd_patterns=[]):
            at = tally.at(node)
            arguments = (ir.Name(at, subject), expression(tally, cls))
            return ir.Call(at, ir.Name(at, "isinstance"), arguments, ()), ()
        case _:
            found = unknown(tally, node)
            return found, found.writes


def _any(
    tally: Tally, node: ast.MatchOr, alternatives: list[ast.pattern], subject: str
) -> tuple[ir.Expr | None, tuple[str, ...]]:
    at = tally.at(node)
    found = [pattern(tally, alternative, subject) for alternative in alternatives]
    binds = tuple(dict.fromkeys(name for _, names in found for name in names))
    tests = tuple(test for test, _ in found if test is not None)
    if len(tests) != len(found):
        return None, binds
    return ir.BoolOp(at, "or", tests), binds
