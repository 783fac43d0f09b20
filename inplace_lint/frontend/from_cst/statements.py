"""Converts statements and patterns of LibCST to `ast`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, cast

import libcst as cst

from inplace_lint.frontend.from_ast.newer import TypeAlias
from inplace_lint.frontend.from_cst.expressions import (
    BINARY,
    CONSTANTS,
    dotted,
    expression,
    keyword,
    marked,
    optional,
    parameters,
)

_AUGMENTED = {getattr(cst, f"{kind.__name__}Assign"): made for kind, made in BINARY.items()}


def block(node: cst.CSTNode | None) -> list[ast.stmt]:
    """Convert a block, a line of small statements, or one statement; an `else` that is left out has none."""
    match node:
        case None:
            return []
        case cst.Else(body=body) | cst.Finally(body=body):
            return block(body)
        case cst.IndentedBlock() | cst.SimpleStatementLine() | cst.SimpleStatementSuite():
            return [made for inner in node.body for made in block(inner)]
        case cst.If():
            return [_if(node)]
        case _:
            return [_statement(node)]


def _statement(node: cst.CSTNode) -> ast.stmt:
    convert = _STATEMENTS.get(type(node))
    made: ast.stmt = ast.Expr(expression(node)) if convert is None else convert(node)
    return marked(made, node)


def _if(node: cst.If) -> ast.If:
    """Convert a chain of `elif` without recursing into it: chains can be long."""
    links: list[cst.If] = []
    rest: cst.If | cst.Else | None = node
    while isinstance(rest, cst.If):
        links.append(rest)
        rest = rest.orelse
    orelse = block(rest)
    for link in reversed(links):
        made = marked(ast.If(expression(link.test), block(link.body), orelse), link)
        orelse = [made]
    return made


def _annotated(node: cst.AnnAssign) -> ast.stmt:
    target = cast("ast.Name", expression(node.target))
    return ast.AnnAssign(target, expression(node.annotation.annotation), optional(node.value), 1)


def _augmented(node: cst.AugAssign) -> ast.stmt:
    target = cast("ast.Name", expression(node.target))
    return ast.AugAssign(target, _AUGMENTED[type(node.operator)](), expression(node.value))


def _delete(node: cst.Del) -> ast.stmt:
    made = expression(node.target)
    return ast.Delete(made.elts if isinstance(made, ast.Tuple) and not node.target.lpar else [made])


def _with(node: cst.With) -> ast.stmt:
    items = [
        ast.withitem(expression(item.item), None if item.asname is None else expression(item.asname.name))
        for item in node.items
    ]
    return ast.With(items, block(node.body))


def _try(node: cst.Try | cst.TryStar) -> ast.stmt:
    handlers = [ast.ExceptHandler(optional(one.type), _alias(one.name), block(one.body)) for one in node.handlers]
    return ast.Try(block(node.body), handlers, block(node.orelse), block(node.finalbody))


def _alias(node: cst.AsName | None) -> str | None:
    return None if node is None else dotted(node.name)


def _import_from(node: cst.ImportFrom) -> ast.stmt:
    names = [ast.alias("*")] if isinstance(node.names, cst.ImportStar) else _names(node.names)
    return ast.ImportFrom(dotted(node.module), names, len(node.relative))


def _names(nodes: Any) -> list[ast.alias]:  # noqa: ANN401 - the parts of an import
    return [ast.alias(dotted(alias.name), _alias(alias.asname)) for alias in nodes]


def _function(node: cst.FunctionDef) -> ast.stmt:
    made: Any = ast.FunctionDef if node.asynchronous is None else ast.AsyncFunctionDef
    decorators = [expression(decorator.decorator) for decorator in node.decorators]
    returns = None if node.returns is None else expression(node.returns.annotation)
    definition: ast.stmt = made(node.name.value, parameters(node.params), block(node.body), decorators, returns)
    return definition


def _class(node: cst.ClassDef) -> ast.stmt:
    bases = [expression(base.value) for base in node.bases]
    decorators = [expression(decorator.decorator) for decorator in node.decorators]
    keywords = [keyword(argument) for argument in node.keywords]
    return ast.ClassDef(node.name.value, bases, keywords, block(node.body), decorators)


def _match(node: cst.Match) -> ast.stmt:
    cases = [ast.match_case(_pattern(case.pattern), optional(case.guard), block(case.body)) for case in node.cases]
    return ast.Match(expression(node.subject), cases)


def _pattern(node: cst.MatchPattern | cst.MatchStar) -> ast.pattern:
    return marked(_pattern_of(node), node)


def _pattern_of(node: cst.MatchPattern | cst.MatchStar) -> ast.pattern:
    match node:
        case cst.MatchValue(value=value):
            return ast.MatchValue(expression(value))
        case cst.MatchSingleton(value=value):
            return ast.MatchSingleton(CONSTANTS[value.value])
        case cst.MatchAs(pattern=under, name=name):
            return ast.MatchAs(None if under is None else _pattern(under), None if name is None else name.value)
        case cst.MatchOr(patterns=elements):
            return ast.MatchOr([_pattern(element.pattern) for element in elements])
        case cst.MatchList(patterns=parts) | cst.MatchTuple(patterns=parts):
            return ast.MatchSequence(
                [_pattern(part.value if isinstance(part, cst.MatchSequenceElement) else part) for part in parts]
            )
        case cst.MatchStar(name=name):
            return ast.MatchStar(None if name is None else name.value)
        case cst.MatchMapping(elements=elements, rest=rest):
            keys = [expression(element.key) for element in elements]
            inner = [_pattern(element.pattern) for element in elements]
            return ast.MatchMapping(keys, inner, None if rest is None else rest.value)
        case cst.MatchClass(cls=cls, patterns=parts, kwds=kwds):
            names = [one.key.value for one in kwds]
            inner = [_pattern(one.pattern) for one in kwds]
            return ast.MatchClass(expression(cls), [_pattern(part.value) for part in parts], names, inner)
        case _:
            msg = f"no such pattern: {type(node).__name__}"
            raise SyntaxError(msg)


_STATEMENTS: Mapping[type[cst.CSTNode], Callable[[Any], ast.stmt]] = {
    cst.Expr: lambda node: ast.Expr(expression(node.value)),
    cst.Assign: lambda node: ast.Assign([expression(one.target) for one in node.targets], expression(node.value)),
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Del: _delete,
    cst.For: lambda node: ast.For(expression(node.target), expression(node.iter), block(node.body), block(node.orelse)),
    cst.While: lambda node: ast.While(expression(node.test), block(node.body), block(node.orelse)),
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Return: lambda node: ast.Return(optional(node.value)),
    cst.Raise: lambda node: ast.Raise(optional(node.exc), None),
    cst.Assert: lambda node: ast.Assert(expression(node.test), None),
    cst.Pass: lambda _node: ast.Pass(),
    cst.Break: lambda _node: ast.Break(),
    cst.Continue: lambda _node: ast.Continue(),
    cst.Global: lambda node: ast.Global([item.name.value for item in node.names]),
    cst.Nonlocal: lambda node: ast.Nonlocal([item.name.value for item in node.names]),
    cst.Import: lambda node: ast.Import(_names(node.names)),
    cst.ImportFrom: _import_from,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Match: _match,
    cst.TypeAlias: lambda node: TypeAlias(expression(node.name), [], expression(node.value)),
}
