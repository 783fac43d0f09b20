"""
Lowers the patterns of `match`: to an expression that tests the subject, and assignments of what a pattern captures.

    case [first, {"x": x}]:    # isinstance(s, (list, tuple)) and len(s) == 2 and isinstance(s[1], dict) and "x" in s[1]
                               # first = s[0]; x = s[1]["x"]
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from inplace_lint.frontend.from_ast import expressions
from inplace_lint.frontend.numbering import Numbering
from inplace_lint.ir import nodes as ir

_WHOLE = frozenset(("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"))


class Pattern(NamedTuple):
    """The `tests` that a subject passes one after the other, and what is captured then, by name."""

    tests: tuple[ir.Expr, ...] = ()
    captures: tuple[tuple[str, ir.Expr], ...] = ()

    def test(self, at: int) -> ir.Expr | None:
        """Return the tests as one; None for a pattern that always matches."""
        return self.tests[0] if len(self.tests) == 1 else ir.BoolOp(at, "and", self.tests) if self.tests else None


def pattern(numbering: Numbering, node: ast.pattern, subject: ir.Expr) -> Pattern:
    """Return what a pattern asks of a subject, and what it captures of it."""
    at = numbering.at(node)
    match node:
        case ast.MatchValue(value=value):
            return Pattern((ir.Compare(at, subject, ("==",), (expressions.expression(numbering, value),)),))
        case ast.MatchSingleton(value=constant):
            return Pattern((ir.Compare(at, subject, ("is",), (ir.Const(constant),)),))
        case ast.MatchAs(pattern=inner, name=name):
            found = Pattern() if inner is None else pattern(numbering, inner, subject)
            return found if name is None else Pattern(found.tests, (*found.captures, (name, subject)))
        case ast.MatchOr(patterns=alternatives):
            return _any(at, [pattern(numbering, one, subject) for one in alternatives])
        case ast.MatchSequence(patterns=parts):
            return _sequence(numbering, at, parts, subject)
        case ast.MatchMapping():
            return _mapping(numbering, at, node, subject)
        case ast.MatchClass():
            return _class(numbering, at, node, subject)
        case _:
            return Pattern((expressions.unknown(numbering, node),))


def _any(at: int, alternatives: Sequence[Pattern]) -> Pattern:
    """Return the pattern that one of several matches; what is captured comes from the first that does."""
    tests = [one.test(at) for one in alternatives]
    test = ir.BoolOp(at, "or", tuple(one for one in tests if one is not None))
    captures = dict(alternatives[-1].captures)
    for one, of_one in reversed(list(zip(alternatives[:-1], tests, strict=False))):
        if of_one is not None:
            captures = {name: ir.IfExp(at, of_one, value, captures.get(name, value)) for name, value in one.captures}
    return Pattern(() if None in tests else (test,), tuple(captures.items()))


def _all(numbering: Numbering, tests: Sequence[ir.Expr], parts: Sequence[tuple[ast.pattern, ir.Expr]]) -> Pattern:
    """Return the pattern of a subject that passes tests, and of its parts."""
    inner = [pattern(numbering, part, value) for part, value in parts]
    return Pattern(
        (*tests, *(test for one in inner for test in one.tests)),
        tuple(capture for one in inner for capture in one.captures),
    )


def _sequence(numbering: Numbering, at: int, parts: Sequence[ast.pattern], subject: ir.Expr) -> Pattern:
    star = next((place for place, part in enumerate(parts) if isinstance(part, ast.MatchStar)), len(parts))
    after = parts[star + 1 :]
    size = ir.Call(at, ir.Name(at, "len"), (subject,), ())
    compared = ("==", len(parts)) if star == len(parts) else (">=", len(parts) - 1)
    tests = (_is_one_of(at, subject, "list", "tuple"), ir.Compare(at, size, compared[:1], (ir.Const(compared[1]),)))
    places = (*range(star), *range(-len(after), 0))
    items = (ir.Subscript(at, subject, ir.Const(place)) for place in places)
    found = _all(numbering, tests, list(zip((*parts[:star], *after), items, strict=True)))
    name = getattr(parts[star], "name", None) if star < len(parts) else None
    if name is None:
        return found
    rest = ir.SliceExpr(ir.Const(star), ir.Const(-len(after)) if after else None, None)
    return Pattern(found.tests, (*found.captures, (name, ir.Subscript(at, subject, rest))))


def _mapping(numbering: Numbering, at: int, node: ast.MatchMapping, subject: ir.Expr) -> Pattern:
    keys = [expressions.expression(numbering, key) for key in node.keys]
    tests = (_is_one_of(at, subject, "dict"), *(ir.Compare(at, key, ("in",), (subject,)) for key in keys))
    items = zip(node.patterns, (ir.Subscript(at, subject, key) for key in keys), strict=True)
    found = _all(numbering, tests, list(items))
    if node.rest is None:
        return found
    # IMPRECISE: the items that the pattern names are in it as well.
    return Pattern(found.tests, (*found.captures, (node.rest, ir.Call(at, ir.Name(at, "dict"), (subject,), ()))))


def _class(numbering: Numbering, at: int, node: ast.MatchClass, subject: ir.Expr) -> Pattern:
    cls = expressions.expression(numbering, node.cls)
    inner = [(part, ir.Attr(at, subject, name)) for name, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True)]
    placed: list[tuple[ast.pattern, ir.Expr]] = []
    for place, part in enumerate(node.patterns):
        if isinstance(cls, ir.Name) and cls.id in _WHOLE:
            placed.append((part, subject))
        else:
            named = ir.Subscript(at, ir.Attr(at, cls, "__match_args__"), ir.Const(place))
            placed.append((part, ir.Call(at, ir.Name(at, "getattr"), (subject, named), ())))
    test = ir.Call(at, ir.Name(at, "isinstance"), (subject, cls), ())
    return _all(numbering, (test,), [*placed, *inner])


def _is_one_of(at: int, subject: ir.Expr, *classes: str) -> ir.Expr:
    names = tuple(ir.Name(at, name) for name in classes)
    return ir.Call(at, ir.Name(at, "isinstance"), (subject, ir.Sequence(at, "tuple", names)), ())
