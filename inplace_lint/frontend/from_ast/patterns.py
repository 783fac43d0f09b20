"""Lowers the patterns of `match`: to ordinary tests where one says the same, otherwise to `Unknown`."""

from __future__ import annotations

import ast

from inplace_lint.frontend.from_ast import expressions
from inplace_lint.frontend.numbering import Numbering
from inplace_lint.ir import nodes as ir


def pattern(numbering: Numbering, node: ast.pattern, subject: str) -> tuple[ir.Expr | None, tuple[str, ...]]:
    """
    Return the test of a pattern over the name of the subject, and the names that the pattern captures.

    The test is None for a pattern that always matches; of alternatives, if one of them does.
    """
    match node:
        case ast.MatchValue(value=value):
            at = numbering.at(node)
            return ir.Compare(at, ir.Name(at, subject), ("==",), (expressions.expression(numbering, value),)), ()
        case ast.MatchSingleton(value=constant):
            at = numbering.at(node)
            return ir.Compare(at, ir.Name(at, subject), ("is",), (ir.Const(constant),)), ()
        case ast.MatchAs(pattern=None, name=name):
            return None, () if name is None else (name,)
        case ast.MatchAs(pattern=inner, name=name) if inner is not None:
            test, binds = pattern(numbering, inner, subject)
            return test, binds if name is None else (*binds, name)
        case ast.MatchOr(patterns=alternatives):
            at = numbering.at(node)
            found = [pattern(numbering, alternative, subject) for alternative in alternatives]
            captured = tuple(dict.fromkeys(name for _, names in found for name in names))
            tests = tuple(test for test, _ in found if test is not None)
            return (ir.BoolOp(at, "or", tests) if len(tests) == len(found) else None), captured
        case ast.MatchClass(cls=cls, patterns=[], kwd_patterns=[]):
            at = numbering.at(node)
            arguments = (ir.Name(at, subject), expressions.expression(numbering, cls))
            return ir.Call(at, ir.Name(at, "isinstance"), arguments, ()), ()
        case _:
            other = expressions.unknown(numbering, node)
            return other, other.writes
