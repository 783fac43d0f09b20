"""Lowers the patterns of `match`: as ordinary tests where they can be said so, else as unknowns."""

from __future__ import annotations

import libcst as cst

from inplace_lint.frontend import builders
from inplace_lint.frontend.from_cst.expressions import expression
from inplace_lint.frontend.from_cst.scopes import names_in
from inplace_lint.frontend.numbering import Tally
from inplace_lint.ir import nodes as ir

_SEQUENCES: dict[type[cst.CSTNode], str] = {cst.MatchList: "MatchSequence", cst.MatchTuple: "MatchSequence"}


def pattern(tally: Tally, node: cst.MatchPattern, subject: str) -> tuple[ir.Expr | None, tuple[str, ...]]:
    """Give the test of a pattern over the name of the subject, None if it always matches, and the names it captures."""
    match node:
        case cst.MatchValue(value=value):
            at = tally.at(node)
            return ir.Compare(at, ir.Name(at, subject), ("==",), (expression(tally, value),)), ()
        case cst.MatchSingleton(value=value):
            at = tally.at(node)
            return ir.Compare(at, ir.Name(at, subject), ("is",), (expression(tally, value),)), ()
        case cst.MatchAs(pattern=None, name=name):
            return None, () if name is None else (name.value,)
        case cst.MatchAs(pattern=inner, name=name) if inner is not None:
            test, binds = pattern(tally, inner, subject)
            return test, binds if name is None else (*binds, name.value)
        case cst.MatchOr(patterns=alternatives):
            at = tally.at(node)
            return builders.any_of(at, [pattern(tally, element.pattern, subject) for element in alternatives])
        case cst.MatchClass(cls=cls, patterns=[], kwds=[]):
            at = tally.at(node)
            arguments = (ir.Name(at, subject), expression(tally, cls))
            return ir.Call(at, ir.Name(at, "isinstance"), arguments, ()), ()
        case _:
            reads, writes = names_in(node)
            kind = _SEQUENCES.get(type(node)) or type(node).__name__
            return ir.Unknown(tally.at(node), kind, reads, writes), writes
